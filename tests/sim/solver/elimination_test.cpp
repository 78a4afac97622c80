// Elimination against the exhaustive referee, on any graph, in any order, by any number of threads.

#include "sim/solver/elimination.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "sim/base/cancel.h"
#include "sim/solver/depth_first.h"
#include "tests/sim/solver/problems.h"
#include "tests/sim/solver/random_problem.h"

namespace strata {
namespace {

using testing::make_graph;
using testing::make_tables;
using testing::Pairs;

// A chain of three with transfers |x - y|, and costs that pull the ends apart:
//   v0: 0 9, v1: 0 0, v2: 9 0.  (0, 0, 1) = 0 + 0 + 0 + 0 + 1 = 1, and so is (0, 1, 1): the tie
//   goes
// to the least choice of the variable eliminated last.
TEST(Eliminate, ByHand) {
  const std::vector<double> entries{0, 9, 0, 0, 9, 0, 0, 1, 1, 0, 0, 1, 1, 0};
  std::size_t next = 0;
  const CostTables tables =
      make_tables({2, 2, 2}, {{0, 1}, {1, 2}}, [&] { return entries[next++]; });
  for (const std::vector<std::uint32_t>& order :
       {std::vector<std::uint32_t>{0, 1, 2}, {1, 0, 2}, {0, 2, 1}}) {
    const Solution solution = eliminate(tables, plan_elimination(tables, order));
    EXPECT_EQ(solution.choices, (Choices{0, 0, 1}));
    EXPECT_EQ(solution.seconds, 1.0 / 1024);
    EXPECT_TRUE(solution.optimal());
  }
}

TEST(Eliminate, OneVariableTakesItsLeastChoice) {
  const std::vector<double> entries{3, 2, 2};
  std::size_t next = 0;
  const CostTables tables = make_tables({3}, {}, [&] { return entries[next++]; });
  EXPECT_EQ(eliminate(tables, plan_elimination(tables)).choices, (Choices{1}));
}

void expect_optimum(const CostTables& tables, const EliminationPlan& plan, double optimum) {
  for (const unsigned threads : {1u, 2u, 3u}) {
    SolveLimits limits;
    limits.threads = threads;
    const Solution solution = eliminate(tables, plan, limits);
    ASSERT_EQ(solution.seconds, optimum);
    ASSERT_EQ(solution.lower_bound, optimum);
    ASSERT_EQ(solution.found(), optimum < kInfinity);
    if (solution.found()) {
      ASSERT_EQ(tables.seconds(solution.choices), optimum);
    }
  }
}

TEST(Eliminate, EqualsExhaustiveSearchForAnyOrder) {
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(round);
    const CostTables tables = random_problem(random, random_shape(random));
    const double optimum = exhaustive_optimum(tables);
    ASSERT_NO_FATAL_FAILURE(expect_optimum(tables, plan_elimination(tables), optimum));
    std::vector<std::uint32_t> order(tables.variables.size());
    std::iota(order.begin(), order.end(), 0u);
    for (int shuffle = 0; shuffle < 5; ++shuffle) {
      std::shuffle(order.begin(), order.end(), random);
      ASSERT_NO_FATAL_FAILURE(expect_optimum(tables, plan_elimination(tables, order), optimum));
    }
  }
}

std::vector<Pairs> drawn_graphs() {
  return {
      {},                                                        // no edge
      {{0, 1}, {1, 2}, {2, 3}},                                  // a chain
      {{0, 1}, {0, 2}, {1, 3}, {2, 3}},                          // a diamond
      {{0, 1}, {0, 2}, {0, 3}},                                  // a star
      {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}},          // complete
      {{0, 1}, {0, 1}, {1, 2}, {2, 3}, {1, 2}, {0, 3}, {0, 3}},  // parallel edges, a cycle
      {{0, 1}, {2, 3}},                                          // in two parts
      {{1, 0}, {3, 1}, {2, 3}, {0, 2}},                          // against the numbers
  };
}

// Up to 15 choices, so that tiles of the kernel have tails.
TEST(Eliminate, EqualsExhaustiveSearchOnDrawnGraphs) {
  std::mt19937 random(4);
  for (const Pairs& edges : drawn_graphs()) {
    for (int round = 0; round < 10; ++round) {
      std::vector<std::size_t> choices;
      for (int v = 0; v < 4; ++v) choices.push_back(1 + random() % 15);
      const CostTables tables =
          make_tables(choices, edges, [&] { return static_cast<double>(random() % 50); });
      expect_optimum(tables, plan_elimination(tables), exhaustive_optimum(tables));
    }
  }
}

// A tree of stars is checked by hand, being too large for the referee: with all entries 1 any
// strategy costs as much as there are tables.
TEST(Eliminate, AllEqualCostsTheNumberOfTables) {
  Pairs edges;
  for (std::uint32_t v = 1; v < 60; ++v) edges.emplace_back(v / 3, v);
  const CostTables tables =
      make_tables(std::vector<std::size_t>(60, 33), edges, [] { return 1.0; });
  const Solution solution = eliminate(tables, plan_elimination(tables));
  EXPECT_EQ(solution.seconds, (60 + 59) / 1024.0);
  EXPECT_EQ(solution.choices, Choices(60, 0));
}

// Tables large enough for several threads: complete graphs of five, whose tables have up to four
// axes, by one order of elimination against others. In the second one, variable 0 leaves a table
// whose next elimination is many small products instead of a large one.
TEST(Eliminate, LargeTablesAreEqualForAnyOrderAndThreads) {
  std::mt19937 random(5);
  Pairs edges;
  for (std::uint32_t a = 0; a < 5; ++a) {
    for (std::uint32_t b = a + 1; b < 5; ++b) edges.emplace_back(a, b);
  }
  for (const std::vector<std::size_t>& choices :
       {std::vector<std::size_t>{20, 30, 25, 17, 28}, {2, 50, 47, 51, 45}}) {
    const CostTables tables =
        make_tables(choices, edges, [&] { return static_cast<double>(random() % 100000); });
    const double optimum = depth_first(tables).seconds;
    for (const std::vector<std::uint32_t>& order :
         {std::vector<std::uint32_t>{0, 1, 2, 3, 4}, {0, 4, 2, 3, 1}}) {
      ASSERT_NO_FATAL_FAILURE(expect_optimum(tables, plan_elimination(tables, order), optimum));
    }
  }
}

// A chain of 64 equal tables that are one in memory, against the same with a copy for each.
TEST(Eliminate, SharedTablesGiveWhatCopiesGive) {
  std::mt19937 random(6);
  Pairs edges;
  for (std::uint32_t v = 0; v < 64; ++v) edges.emplace_back(v, v + 1);
  CostTables copied = make_tables(std::vector<std::size_t>(65, 9), edges,
                                  [&] { return static_cast<double>(random() % 1000); });
  CostTables shared = copied;
  for (auto& edge : shared.edges) edge.table = shared.edges[0].table;
  for (auto& edge : copied.edges) edge.table = std::make_shared<CostTable>(*shared.edges[0].table);
  const Solution once = eliminate(shared, plan_elimination(shared));
  const Solution each = eliminate(copied, plan_elimination(copied));
  EXPECT_EQ(once.choices, each.choices);
  EXPECT_EQ(once.seconds, each.seconds);
}

TEST(Eliminate, StopsWhenCalledOffOrOutOfTime) {
  const CostTables tables = make_graph(3, {{0, 1}, {1, 2}});
  std::atomic<bool> cancelled{true};
  SolveLimits limits;
  limits.cancelled = &cancelled;
  EXPECT_THROW(eliminate(tables, plan_elimination(tables), limits), Cancelled);
  SolveLimits no_time;
  no_time.time_limit = 0;
  EXPECT_THROW(eliminate(tables, plan_elimination(tables), no_time), Cancelled);
}

TEST(Eliminate, TellsHowFarItIs) {
  const CostTables tables = make_graph(3, {{0, 1}, {1, 2}});
  std::vector<double> done;
  SolveLimits limits;
  limits.progress = [&](const SolveProgress& progress) { done.push_back(progress.done); };
  eliminate(tables, plan_elimination(tables), limits);
  EXPECT_EQ(done, (std::vector<double>{1 / 3.0, 2 / 3.0, 1}));
}

TEST(MinMarginals, EqualExhaustiveSearch) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const CostTables tables = random_problem(random, random_shape(random));
    const auto variable = static_cast<std::uint32_t>(random() % tables.variables.size());
    std::vector<double> expected(tables.variables[variable]->size(), kInfinity);
    for (const Solution& solution : all_strategies(tables)) {
      double& least = expected[solution.choices[variable]];
      least = std::min(least, solution.seconds);
    }
    ASSERT_EQ(min_marginals(tables, variable), expected) << "round " << round;
  }
}

// A chain of 0 - 1 - 2 - 3 with 10 choices each: an end goes first (a table of 10 entries), and so
// on; 10 * 10 additions each, but 10 for the last, whose table has one entry.
TEST(PlanElimination, AChainGoesFromItsEnds) {
  const CostTables tables =
      make_tables({10, 10, 10, 10}, {{0, 1}, {1, 2}, {2, 3}}, [] { return 0.0; });
  const EliminationPlan plan = plan_elimination(tables);
  EXPECT_EQ(plan.order, (std::vector<std::uint32_t>{0, 3, 1, 2}));
  EXPECT_EQ(plan.width, 1u);
  EXPECT_EQ(plan.operations, 3 * 100 + 10);
  EXPECT_EQ(plan.table_bytes, (3 * 10 + 1) * 8);
}

// With its ends held by a loop, a cycle of 8 takes every other variable first: their tables rest on
// nothing yet.
TEST(PlanElimination, ACycleTakesEveryOtherFirst) {
  Pairs edges;
  for (std::uint32_t v = 0; v < 8; ++v) edges.emplace_back(v, (v + 1) % 8);
  const CostTables tables = make_tables(std::vector<std::size_t>(8, 3), edges, [] { return 0.0; });
  EXPECT_EQ(plan_elimination(tables).order, (std::vector<std::uint32_t>{0, 2, 4, 6, 1, 5, 3, 7}));
}

TEST(PlanElimination, KeepsWhatIsToBeKept) {
  const CostTables tables = make_tables({2, 3, 4}, {{0, 1}, {1, 2}}, [] { return 0.0; });
  EXPECT_EQ(plan_elimination(tables, 0u).order, (std::vector<std::uint32_t>{2, 1}));
}

// Eliminating the middle of a star of four joins its leaves: 3 * 4 * 5 entries for each of its 2.
TEST(PlanElimination, SaysWhatAGivenOrderTakes) {
  const CostTables tables = make_tables({2, 3, 4, 5}, {{0, 1}, {0, 2}, {0, 3}}, [] { return 0.0; });
  const EliminationPlan plan = plan_elimination(tables, std::vector<std::uint32_t>{0});
  EXPECT_EQ(plan.width, 3u);
  EXPECT_EQ(plan.operations, 120);
  EXPECT_EQ(plan.table_bytes, 480);
}

}  // namespace
}  // namespace strata
