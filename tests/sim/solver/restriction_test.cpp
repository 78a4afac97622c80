// Fewer choices and fewer edges, the same costs.

#include "sim/solver/restriction.h"

#include <gtest/gtest.h>

#include "random_problem.h"

namespace strata {
namespace {

TEST(Restriction, KeepsCostsAndSharing) {
  CostTables tables;
  tables.quantum = 1;
  const auto vector = std::make_shared<const std::vector<double>>(std::vector<double>{1, 2, 3});
  const auto table =
      std::make_shared<const CostTable>(CostTable{3, 3, {0, 1, 2, 3, 4, 5, 6, 7, 8}});
  tables.variables = {vector, vector, vector, vector};
  tables.edges = {{0, 1, table}, {1, 2, table}, {2, 3, table}};
  const Restriction half = restrict_choices(tables, {{0, 2}, {0, 2}, {0, 2}, {0, 1, 2}});
  EXPECT_EQ(*half.tables.variables[0], (std::vector<double>{1, 3}));
  EXPECT_EQ(half.tables.variables[0], half.tables.variables[2]);
  EXPECT_EQ(half.tables.variables[3], vector);
  EXPECT_EQ(half.tables.edges[0].table->seconds, (std::vector<double>{0, 2, 6, 8}));
  EXPECT_EQ(half.tables.edges[0].table, half.tables.edges[1].table);
  EXPECT_EQ(half.tables.edges[2].table->seconds, (std::vector<double>{0, 1, 2, 6, 7, 8}));
  EXPECT_EQ(half.original({1, 0, 1, 2}), (Choices{2, 0, 2, 2}));
  EXPECT_EQ(half.restricted({2, 0, 2, 2}), (Choices{1, 0, 1, 2}));
  EXPECT_EQ(half.restricted({1, 0, 2, 2}), Choices{});
}

TEST(MergeParallelEdges, AddsUpBothDirections) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const CostTables tables = random_problem(random, {6, 3, 1, 50, 0, true});
    const CostTables merged = merge_parallel_edges(tables);
    EXPECT_EQ(merged.edges.size(), 15u);
    for (const Solution& strategy : all_strategies(tables)) {
      ASSERT_EQ(merged.seconds(strategy.choices), strategy.seconds) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace strata
