// Branch and bound against the referee that tries every strategy.

#include "sim/solver/branch_and_bound.h"

#include <gtest/gtest.h>

#include "random_problem.h"

namespace strata {
namespace {

BranchOptions branch_only() {
  BranchOptions options;
  options.leaf_operations = 0;
  options.sweeps = 2;
  return options;
}

TEST(BranchAndBound, FindsTheOptimumOfAThousandProblems) {
  std::size_t most_parts = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    const CostTables tables = random_problem(random, random_shape(random));
    const double optimum = exhaustive_optimum(tables);
    for (const BranchOptions& options : {BranchOptions{}, branch_only()}) {
      BestKnown known(1);
      const BranchResult result = branch_and_bound(Subproblem(tables), known, options, {});
      ASSERT_TRUE(result.complete) << "seed " << seed;
      ASSERT_EQ(known.best_seconds(), optimum) << "seed " << seed;
      ASSERT_EQ(result.lower_bound, optimum) << "seed " << seed;
      most_parts = std::max(most_parts, result.parts);
    }
  }
  EXPECT_GT(most_parts, 2u);
}

TEST(BranchAndBound, FindsTheCostsOfTheBestFew) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const CostTables tables = random_problem(random, random_shape(random));
    const std::vector<Solution> all = all_strategies(tables);
    for (const BranchOptions& options : {BranchOptions{}, branch_only()}) {
      BestKnown known(5);
      branch_and_bound(Subproblem(tables), known, options, {});
      ASSERT_EQ(known.best().size(), std::min<std::size_t>(5, all.size())) << "seed " << seed;
      for (std::size_t i = 0; i < known.best().size(); ++i) {
        ASSERT_EQ(known.best()[i].seconds, all[i].seconds) << "seed " << seed << " rank " << i;
      }
    }
  }
}

TEST(BranchAndBound, CalledOffStillBounds) {
  const std::atomic<bool> cancelled = true;
  SolveLimits limits;
  limits.cancelled = &cancelled;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const CostTables tables = random_problem(random, random_shape(random));
    BestKnown known(1);
    const BranchResult result = branch_and_bound(Subproblem(tables), known, {}, limits);
    ASSERT_LE(result.lower_bound, exhaustive_optimum(tables)) << "seed " << seed;
  }
}

TEST(BranchAndBound, OutOfMemoryForPartsItGoesDownInstead) {
  SolveLimits limits;
  limits.table_bytes = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const CostTables tables = random_problem(random, random_shape(random));
    BestKnown known(1);
    branch_and_bound(Subproblem(tables), known, branch_only(), limits);
    ASSERT_EQ(known.best_seconds(), exhaustive_optimum(tables)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace strata
