#pragma once

// The same problem with fewer choices, or with its parallel edges added up. Tables that were shared
// stay shared where the same choices are left, so that work on equal tables is still done once.

#include <vector>

#include "sim/solver/solution.h"

namespace strata {

/// Choices among those kept (by variable: their numbers, ascending), by their numbers in the whole.
Choices renamed(const std::vector<Choices>& kept, const Choices& choices);
/// Choices of the whole, by their numbers among those kept; empty where one was not kept.
Choices renamed_back(const std::vector<Choices>& kept, const Choices& original);

/// A problem with fewer choices, and what its choices were called before.
struct Restriction {
  CostTables tables;
  std::vector<Choices> kept;  ///< by variable: its choices' old numbers, ascending

  Choices original(const Choices& choices) const { return renamed(kept, choices); }
  /// Nothing where a choice was not kept: empty.
  Choices restricted(const Choices& original) const { return renamed_back(kept, original); }
};

/// Precondition: for every variable at least one choice is kept.
Restriction restrict_choices(const CostTables& tables, std::vector<Choices> kept);

/// At most one edge between any two variables, from the lower number to the higher: the sum of all
/// edges between them (the paper's edge elimination, Eq. 3).
CostTables merge_parallel_edges(const CostTables& tables);

/// The number of all choices of all variables.
std::size_t count_choices(const CostTables& tables);

}  // namespace strata
