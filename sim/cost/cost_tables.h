#pragma once

// Eq. 1 as tables, for search: for every variable of a SearchSpace the seconds t_C + t_S of each
// of its choices, for every edge between two variables the seconds t_X of each pair of choices.
// A strategy's Eq. 1 time is the sum of one entry from each.
//
// Entries are whole multiples of `quantum`, a power of two so small that a sum of entries, in
// whatever order, is exact in a double: equal strategies cost equal bits however they were found.
// That holds for all sums up to hundreds of times what some strategy costs; larger ones round, and
// stay large. Against Eq1's own sums the quantum is a rounding of 2^-52 of the largest such sum.
//
// Tables are shared between edges (and variables) of equal shape. Immutable once built;
// thread-safe to read.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/cost/eq1.h"
#include "sim/strategy/search_space.h"

namespace strata {

/// How much of what devices exchange a table of t_X looks at. The less, the faster on many devices;
/// entries are then never more than the exact ones (but for their rounding). sim/solver/screen.h
/// tells with such tables which choices are worth exact ones.
enum class TableDetail : std::uint8_t {
  exact,
  sampled,  ///< all links of a few groups of devices
  bounds,   ///< of a few devices and groups, all their links together
};

/// rows x columns seconds, row-major.
struct CostTable {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<double> seconds;

  const double* row(std::size_t r) const { return seconds.data() + r * columns; }
  double at(std::size_t r, std::size_t c) const { return seconds[r * columns + c]; }
};

struct CostTables {
  using Vector = std::shared_ptr<const std::vector<double>>;

  /// Between two variables: rows are the choices of `from`, columns those of `to`.
  struct Edge {
    std::uint32_t from = 0;
    std::uint32_t to = 0;  ///< never `from`; several edges may join the same two
    std::shared_ptr<const CostTable> table;
  };

  std::vector<Vector> variables;  ///< by variable: seconds by choice, at least one choice
  std::vector<Edge> edges;
  double quantum = 0;
  TableDetail detail = TableDetail::exact;  ///< at least what was asked for

  /// The sum for one choice per variable; exact.
  double seconds(std::span<const std::uint32_t> choices) const;
  std::size_t bytes() const;  ///< of all distinct tables
};

struct CostTableOptions {
  unsigned threads = 0;  ///< 0: all cores
  const std::atomic<bool>* cancelled = nullptr;
  TableDetail detail = TableDetail::exact;
  std::uint32_t rounds = 1;  ///< of a step, each of which computes the graph (Eq1::terms)
  Segments segments = {};    ///< that every strategy computes again
};

/// Throws Cancelled (sim/base/cancel.h) once `cancelled` is true. `models` as for Eq1.
CostTables build_cost_tables(const Graph& graph, const Cluster& cluster,
                             std::span<const CostModel* const> models, SyncAlgorithm sync,
                             const ComputeSettings& settings, const SearchSpace& space,
                             const CostTableOptions& options = {});

}  // namespace strata
