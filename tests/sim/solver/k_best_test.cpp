// The k best strategies against all of them, sorted.

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "sim/solver/elimination.h"
#include "tests/sim/solver/problems.h"
#include "tests/sim/solver/random_problem.h"

namespace strata {
namespace {

// By cost, and of equal ones by the choices of the variables from the last eliminated to the first.
std::vector<Solution> sorted(const CostTables& tables, const EliminationPlan& plan) {
  std::vector<Solution> all = all_strategies(tables);
  const auto key = [&](const Solution& solution) {
    Choices choices;
    for (auto v = plan.order.rbegin(); v != plan.order.rend(); ++v) {
      choices.push_back(solution.choices[*v]);
    }
    return std::pair(solution.seconds, choices);
  };
  std::sort(all.begin(), all.end(),
            [&](const Solution& a, const Solution& b) { return key(a) < key(b); });
  return all;
}

void expect_first(const CostTables& tables, const EliminationPlan& plan, std::size_t count) {
  std::vector<Solution> expected = sorted(tables, plan);
  if (expected.size() > count) expected.resize(count);
  const std::vector<Solution> best = k_best(tables, plan, count);
  ASSERT_EQ(best.size(), expected.size());
  for (std::size_t i = 0; i < best.size(); ++i) {
    ASSERT_EQ(best[i].choices, expected[i].choices) << "number " << i;
    ASSERT_EQ(best[i].seconds, expected[i].seconds);
    ASSERT_EQ(best[i].lower_bound, expected[0].seconds);
  }
}

TEST(KBest, EqualsTheSortedListOfAll) {
  std::mt19937 random(8);
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(round);
    const CostTables tables = random_problem(random, random_shape(random));
    std::vector<std::uint32_t> order(tables.variables.size());
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t count : {1, 2, 7, 100}) {
      ASSERT_NO_FATAL_FAILURE(expect_first(tables, plan_elimination(tables), count));
      ASSERT_NO_FATAL_FAILURE(expect_first(tables, plan_elimination(tables, order), count));
    }
  }
}

TEST(KBest, TheFirstIsTheEliminations) {
  std::mt19937 random(9);
  for (int round = 0; round < 100; ++round) {
    const CostTables tables = random_problem(random, random_shape(random));
    const EliminationPlan plan = plan_elimination(tables);
    const std::vector<Solution> best = k_best(tables, plan, 3);
    const Solution first = eliminate(tables, plan);
    ASSERT_EQ(best.empty(), !first.found());
    if (!best.empty()) {
      ASSERT_EQ(best.front().choices, first.choices);
    }
  }
}

// 2 * 2 strategies, three of them finite.
TEST(KBest, GivesFewerWhereThereAreNoMore) {
  const std::vector<double> entries{0, 0, 0, 0, 1, kInfinity, 3, 2};
  std::size_t next = 0;
  const CostTables tables = testing::make_tables({2, 2}, {{0, 1}}, [&] { return entries[next++]; });
  const std::vector<Solution> best = k_best(tables, plan_elimination(tables), 10);
  ASSERT_EQ(best.size(), 3u);
  EXPECT_EQ(best[0].choices, (Choices{0, 0}));
  EXPECT_EQ(best[1].choices, (Choices{1, 1}));
  EXPECT_EQ(best[2].choices, (Choices{1, 0}));
  EXPECT_TRUE(k_best(tables, plan_elimination(tables), 0).empty());
}

}  // namespace
}  // namespace strata
