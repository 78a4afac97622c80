#pragma once

// Which variables still meet in a table, while they are eliminated one by one: the neighbours of
// one that goes all meet in the table that takes its place. A value; not thread-safe.

#include <cstdint>
#include <vector>

#include "sim/cost/cost_tables.h"

namespace strata {

class InteractionGraph {
 public:
  explicit InteractionGraph(const CostTables& tables);

  std::size_t size() const { return choices_.size(); }
  double choices(std::uint32_t v) const { return choices_[v]; }
  /// Ascending.
  const std::vector<std::uint32_t>& neighbours(std::uint32_t v) const { return neighbours_[v]; }
  /// Entries of the table over v's neighbours.
  double table_entries(std::uint32_t v) const;
  /// Pairs of v's neighbours that do not meet yet.
  std::size_t fill_in(std::uint32_t v) const;

  void eliminate(std::uint32_t v);

 private:
  bool meet(std::uint32_t a, std::uint32_t b) const { return meet_[a * size() + b]; }
  void join(std::uint32_t a, std::uint32_t b);

  std::vector<double> choices_;
  std::vector<std::vector<std::uint32_t>> neighbours_;
  std::vector<char> meet_;  ///< a symmetric matrix
};

}  // namespace strata
