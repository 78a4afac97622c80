#pragma once

// CostTables seen from the variables: who meets whom over which table. At most one edge between two
// variables, from the lower number to the higher. Immutable; thread-safe.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/solver/solution.h"

namespace strata {

/// An edge, as one of its two variables sees it.
struct Incidence {
  std::uint32_t edge = 0;
  std::uint32_t other = 0;
  bool is_from = false;  ///< the variable's choices are the rows
};

class PairwiseModel {
 public:
  /// Adds up the parallel edges.
  explicit PairwiseModel(const CostTables& tables);

  const CostTables& tables() const { return tables_; }
  std::size_t size() const { return tables_.variables.size(); }
  std::size_t choices(std::uint32_t v) const { return tables_.variables[v]->size(); }
  std::size_t max_choices() const { return max_choices_; }
  std::span<const Incidence> incident(std::uint32_t v) const { return incident_[v]; }
  const CostTable& table(std::uint32_t edge) const { return *tables_.edges[edge].table; }
  /// Seconds of the edge when the variable chooses `at` and the other one `other`.
  double entry(const Incidence& incidence, std::uint32_t at, std::uint32_t other) const {
    const CostTable& table = *tables_.edges[incidence.edge].table;
    return incidence.is_from ? table.at(at, other) : table.at(other, at);
  }

  /// Where a variable's choices start in a vector over all choices; [size()]: its length.
  std::size_t first_choice(std::size_t v) const { return first_choice_[v]; }
  /// Where an edge's two messages start in a vector of them all; [edges]: its length.
  std::size_t first_message(std::size_t edge) const { return first_message_[edge]; }
  /// Entries of all tables, each edge for itself: the additions of one pass.
  double entries() const { return entries_; }

  /// What each choice of v costs with v's edges when its neighbours choose as in `strategy`.
  void local_costs(std::uint32_t v, const Choices& strategy, std::vector<double>& costs) const;

 private:
  CostTables tables_;
  std::vector<std::vector<Incidence>> incident_;
  std::vector<std::size_t> first_choice_, first_message_;
  std::size_t max_choices_ = 0;
  double entries_ = 0;
};

}  // namespace strata
