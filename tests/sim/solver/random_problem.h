#pragma once

// Small random problems, and larger ones in the shape of
// real networks' cost tables. Costs are whole numbers over 1024, so that every
// sum is exact and ties are frequent.

#include <random>
#include <vector>

#include "sim/solver/solution.h"

namespace strata {

struct ProblemShape {
  std::size_t variables = 5;
  std::size_t most_choices = 4;
  double density = 0.5;  ///< of all pairs; chains always
  int largest = 20;      ///< costs are 0 to this, over 1024
  double forbidden = 0;  ///< share of the table entries that are infinite
  bool parallel_edges = true;
};

CostTables random_problem(std::mt19937& random, const ProblemShape& shape);
/// A shape drawn at random: chains, sparse, dense, with ties, with forbidden pairs.
ProblemShape random_shape(std::mt19937& random);

/// All strategies of finite cost, by cost and then lexicographically.
std::vector<Solution> all_strategies(const CostTables& tables);
/// The cost of the best, infinite where there is none.
double exhaustive_optimum(const CostTables& tables);

/// A dense block: concat j reads features 0 to j and feature j + 1 comes from concat j. Unequal
/// choices of two neighbours cost a transfer, more or less by how unlike they are: like a real
/// network's tables, equal neighbours are strongly favoured.
CostTables dense_block(std::mt19937& random, std::size_t layers, std::size_t choices);

}  // namespace strata
