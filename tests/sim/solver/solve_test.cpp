// The whole search against the referee that tries every strategy, by every way it may take.

#include "sim/solver/solve.h"

#include <gtest/gtest.h>

#include "random_problem.h"

namespace strata {
namespace {

void expect_best(const SolveResult& result, const std::vector<Solution>& all, std::size_t count,
                 unsigned seed) {
  ASSERT_EQ(result.best.size(), std::min(count, all.size())) << "seed " << seed;
  for (std::size_t i = 0; i < result.best.size(); ++i) {
    ASSERT_EQ(result.best[i].seconds, all[i].seconds) << "seed " << seed << " rank " << i;
    ASSERT_EQ(result.best[i].lower_bound, all[i].seconds) << "seed " << seed << " rank " << i;
  }
  ASSERT_EQ(result.lower_bound, all.empty() ? kInfinity : all[0].seconds) << "seed " << seed;
}

/// No table may be made: the way of bound, pruning, and branch and bound.
SolveLimits no_tables() {
  SolveLimits limits;
  limits.table_bytes = 0;
  return limits;
}

TEST(Solve, EqualsExhaustiveSearch) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    const CostTables tables = random_problem(random, random_shape(random));
    const std::vector<Solution> all = all_strategies(tables);
    for (const std::size_t count : {1, 4}) {
      expect_best(solve(tables, {}, count), all, count, seed);
      expect_best(solve(tables, {}, count, no_tables()), all, count, seed);
    }
  }
}

// Where no table may be made, there is one search for every choice.
TEST(Counterfactuals, AreTheMinMarginals) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const CostTables tables = random_problem(random, random_shape(random));
    const auto variable = static_cast<std::uint32_t>(random() % tables.variables.size());
    const std::vector<double> marginals = min_marginals(tables, variable);
    const SolveResult found = solve(tables, {}, 1);
    if (found.best.empty()) continue;  // infinite, whatever is chosen
    const Choices optimum = found.best.front().choices;
    EXPECT_EQ(counterfactuals(tables, variable, optimum), marginals) << "seed " << seed;
    EXPECT_EQ(counterfactuals(tables, variable, optimum, no_tables()), marginals) << seed;
  }
}

TEST(Solve, StartsFromWhatIsKnown) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const CostTables tables = random_problem(random, random_shape(random));
    const std::vector<Solution> all = all_strategies(tables);
    if (all.empty()) continue;
    const Choices known[] = {all.back().choices, all.front().choices};
    expect_best(solve(tables, known, 1), all, 1, seed);
    expect_best(solve(tables, known, 3, no_tables()), all, 3, seed);
  }
}

TEST(Solve, GivesEqualBitsForAnyThreads) {
  std::mt19937 random(3);
  const CostTables tables = dense_block(random, 8, 12);
  SolveLimits limits;
  limits.threads = 1;
  const SolveResult one = solve(tables, {}, 3, limits);
  limits.threads = 3;
  const SolveResult three = solve(tables, {}, 3, limits);
  ASSERT_EQ(one.best.size(), three.best.size());
  for (std::size_t i = 0; i < one.best.size(); ++i) {
    EXPECT_EQ(one.best[i].choices, three.best[i].choices);
  }
}

TEST(Solve, CalledOffAtOnceReturnsAValidBound) {
  const std::atomic<bool> cancelled = true;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const CostTables tables = random_problem(random, random_shape(random));
    const double optimum = exhaustive_optimum(tables);
    for (SolveLimits limits : {SolveLimits{}, no_tables()}) {
      limits.cancelled = &cancelled;
      const SolveResult result = solve(tables, {}, 1, limits);
      ASSERT_LE(result.lower_bound, optimum) << "seed " << seed;
      if (!result.best.empty()) {
        ASSERT_GE(result.best[0].seconds, optimum) << "seed " << seed;
      }
    }
  }
}

TEST(Solve, OutOfTimeStatesTheGap) {
  std::mt19937 random(5);
  const CostTables tables = dense_block(random, 10, 20);
  SolveLimits limits;
  limits.time_limit = 0;
  const SolveResult result = solve(tables, {}, 1, limits);
  ASSERT_FALSE(result.best.empty());
  EXPECT_LE(result.lower_bound, result.best[0].seconds);
  EXPECT_GT(result.lower_bound, 0);
}

// 24 layers, as DenseNet-121's largest block: far too wide for elimination alone.
TEST(Solve, IsExactOnADenseBlock) {
  std::mt19937 random(1);
  const CostTables tables = dense_block(random, 24, 15);
  const SolveResult result = solve(tables, {}, 1);
  ASSERT_FALSE(result.best.empty());
  EXPECT_TRUE(result.best[0].optimal());
  EXPECT_EQ(tables.seconds(result.best[0].choices), result.best[0].seconds);
  EXPECT_GT(result.pruned, 500u);
}

}  // namespace
}  // namespace strata
