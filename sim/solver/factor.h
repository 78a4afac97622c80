#pragma once

// A dense table over some of the variables, and what several of them add up to. Entries may lie in
// any order of the axes, so that a table and its transpose are one. Values that share their
// entries; thread-safe to read.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/solver/solution.h"

namespace strata {

struct Factor {
  std::vector<std::uint32_t> scope;  ///< variables, ascending
  std::vector<std::size_t> strides;  ///< by variable of the scope, in entries
  std::shared_ptr<const double[]> entries;
  std::uint64_t id = 0;  ///< of the entries: equal ids, equal entries

  bool mentions(std::uint32_t v) const;
  /// 0 for a variable that it does not mention.
  std::size_t stride(std::uint32_t v) const;
  /// Where its entry for these choices of all variables lies.
  std::size_t offset(const Choices& choices) const;
};

/// The tables' variables and edges as factors; shared tables share an id, below their number.
std::vector<Factor> to_factors(const CostTables& tables);

/// What each choice of v adds up to over the factors, the others being as in `choices`.
void sum_costs(std::span<const Factor> factors, std::uint32_t v, Choices choices,
               std::vector<double>& costs);

}  // namespace strata
