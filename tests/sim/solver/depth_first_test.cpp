#include "sim/solver/depth_first.h"

#include <gtest/gtest.h>

#include "tests/sim/solver/problems.h"
#include "tests/sim/solver/random_problem.h"

namespace strata {
namespace {

// Two variables of two choices, costs 3, 1 and 2, 2; joined they add 0 where equal, else 4:
//   (0, 0) = 3 + 2 + 0 = 5, (0, 1) = 9, (1, 0) = 7, (1, 1) = 1 + 2 + 0 = 3.
TEST(DepthFirst, ByHand) {
  const std::vector<double> entries{3, 1, 2, 2, 0, 4, 4, 0};
  std::size_t next = 0;
  const CostTables tables = testing::make_tables({2, 2}, {{0, 1}}, [&] { return entries[next++]; });
  const Solution solution = depth_first(tables);
  EXPECT_EQ(solution.choices, (Choices{1, 1}));
  EXPECT_EQ(solution.seconds, 3.0 / 1024);
  EXPECT_TRUE(solution.optimal());
}

TEST(DepthFirst, FindsTheLexicographicallyFirstOptimum) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const CostTables tables = random_problem(random, random_shape(random));
    const std::vector<Solution> all = all_strategies(tables);
    const Solution solution = depth_first(tables);
    ASSERT_EQ(solution.found(), !all.empty());
    if (all.empty()) continue;
    ASSERT_EQ(solution.choices, all.front().choices) << "round " << round;
    ASSERT_EQ(solution.seconds, all.front().seconds);
    ASSERT_EQ(solution.lower_bound, all.front().seconds);
  }
}

// 2^40 equal strategies of cost 0: once one is known, nothing is better.
TEST(DepthFirst, LeavesWhatCannotBeBetter) {
  const CostTables tables =
      testing::make_tables(std::vector<std::size_t>(40, 2), {}, [] { return 0.0; });
  EXPECT_EQ(depth_first(tables).choices, Choices(40, 0));
}

// The second choice is always the cheaper, so that every strategy is better than all before it.
TEST(DepthFirst, SaysWhatIsProvedWhenCalledOff) {
  int drawn = 0;
  const CostTables tables = testing::make_tables(std::vector<std::size_t>(40, 2), {},
                                                 [&] { return drawn++ % 2 == 0 ? 2.0 : 1.0; });
  std::atomic<bool> cancelled{true};
  SolveLimits limits;
  limits.cancelled = &cancelled;
  const Solution solution = depth_first(tables, limits);
  EXPECT_TRUE(solution.found());
  EXPECT_EQ(solution.lower_bound, 40.0 / 1024);
  EXPECT_GT(solution.seconds, solution.lower_bound);
}

}  // namespace
}  // namespace strata
