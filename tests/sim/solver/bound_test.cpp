// The dual bound: never above the optimum, the optimum itself on trees, and what it drops is in no
// strategy as cheap as the limit.

#include "sim/solver/bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "random_problem.h"
#include "sim/solver/prune.h"
#include "sim/solver/table_minima.h"

namespace strata {
namespace {

DualBound bound_of(const CostTables& tables) {
  return DualBound(std::make_shared<const PairwiseModel>(tables));
}

TEST(TableMinima, AddBeforeTheyCompare) {
  const CostTable table{2, 3, {1, 5, 9, 2, 3, 4}};
  double columns[3];
  const double to_rows[] = {0, 2};
  column_minima(table, to_rows, columns);  // rows 1 5 9 and 4 5 6
  EXPECT_THAT(columns, ::testing::ElementsAre(1, 5, 6));
  double rows[2];
  const double to_columns[] = {kInfinity, 0, -3};
  row_minima(table, to_columns, rows);  // rows inf 5 6 and inf 3 1
  EXPECT_THAT(rows, ::testing::ElementsAre(5, 1));
}

TEST(TableMinima, EqualTheDefinitionForAnyShapeAndAnyThreads) {
  std::mt19937 random(7);
  for (const auto& [rows, columns] :
       {std::pair{1u, 1u}, {3u, 17u}, {17u, 3u}, {8u, 8u}, {900u, 700u}}) {
    CostTable table{rows, columns, std::vector<double>(std::size_t{rows} * columns)};
    for (double& entry : table.seconds) entry = static_cast<double>(random() % 1000);
    std::vector<double> add(std::max(rows, columns));
    for (double& entry : add)
      entry = random() % 4 == 0 ? kInfinity : static_cast<double>(random() % 1000);
    std::vector<double> by_column(columns, kInfinity), by_row(rows, kInfinity);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        by_column[c] = std::min(by_column[c], table.at(r, c) + add[r]);
        by_row[r] = std::min(by_row[r], table.at(r, c) + add[c]);
      }
    }
    for (const unsigned threads : {1u, 2u, 3u}) {
      std::vector<double> columns_found(columns), rows_found(rows);
      column_minima(table, add.data(), columns_found.data(), threads);
      row_minima(table, add.data(), rows_found.data(), threads);
      EXPECT_EQ(columns_found, by_column);
      EXPECT_EQ(rows_found, by_row);
    }
  }
}

// 0 - 1 with costs 3 1 and 0 2, and 0 where they choose alike, else 10: the best is 0 0 or 1 1.
TEST(DualBound, IsTheOptimumOfAChainAfterOneSweep) {
  CostTables tables;
  tables.quantum = 1;
  tables.variables = {std::make_shared<const std::vector<double>>(std::vector<double>{3, 1}),
                      std::make_shared<const std::vector<double>>(std::vector<double>{0, 3})};
  tables.edges = {{0, 1, std::make_shared<const CostTable>(CostTable{2, 2, {0, 10, 10, 0}})}};
  DualBound bound = bound_of(tables);
  EXPECT_EQ(bound.lower_bound(), 1);  // the least entries: 1 + 0 + 0
  bound.sweep(kInfinity);
  EXPECT_EQ(bound.lower_bound(), 3);
  EXPECT_EQ(bound.decoded(), (Choices{0, 0}));
  EXPECT_EQ(bound.reduced_cost(0, 1), 1);  // 1 1 costs 4
  bound.sweep(3.5);
  EXPECT_EQ(bound.choices(), (std::vector<Choices>{{0}, {0}}));
}

TEST(DualBound, IsExactOnTreesAndAdmissibleOnAThousandProblems) {
  int tight = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    const ProblemShape shape = random_shape(random);
    const CostTables tables = random_problem(random, shape);
    const double optimum = exhaustive_optimum(tables);
    DualBound bound = bound_of(tables);
    double before = bound.lower_bound();
    for (int sweep = 0; sweep < 20; ++sweep) {
      bound.sweep(kInfinity);
      ASSERT_GE(bound.lower_bound(), before) << "seed " << seed;
      before = bound.lower_bound();
      ASSERT_LE(before, optimum) << "seed " << seed << " sweep " << sweep;
    }
    if (shape.density == 0) {
      ASSERT_EQ(before, optimum) << "seed " << seed;
    }
    if (before == optimum) ++tight;
  }
  EXPECT_GT(tight, 500);
}

TEST(DualBound, NeverDropsAChoiceOfAStrategyWithinTheLimit) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    const CostTables tables = random_problem(random, random_shape(random));
    const std::vector<Solution> all = all_strategies(tables);
    if (all.empty()) continue;
    const double limit = all[std::min<std::size_t>(3, all.size() - 1)].seconds;
    DualBound bound = bound_of(tables);
    for (int sweep = 0; sweep < 10; ++sweep) bound.sweep(limit);
    for (const Solution& solution : all) {
      if (solution.seconds > limit) break;
      for (std::uint32_t v = 0; v < solution.choices.size(); ++v) {
        ASSERT_TRUE(bound.alive(v, solution.choices[v])) << "seed " << seed;
      }
      ASSERT_LE(bound.lower_bound(), solution.seconds) << "seed " << seed;
    }
  }
}

TEST(DualBound, DropsAllWhereAllIsForbidden) {
  CostTables tables;
  tables.quantum = 1;
  tables.variables = {std::make_shared<const std::vector<double>>(std::vector<double>{3, 1}),
                      std::make_shared<const std::vector<double>>(std::vector<double>{0})};
  tables.edges = {
      {0, 1, std::make_shared<const CostTable>(CostTable{2, 1, {kInfinity, kInfinity}})}};
  DualBound bound = bound_of(tables);
  EXPECT_EQ(bound.lower_bound(), kInfinity);
}

TEST(Dominance, KeepsTheLexicographicallyFirstOptimum) {
  std::size_t dropped = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    ProblemShape shape = random_shape(random);
    shape.largest = std::min(shape.largest, 3);
    const CostTables tables = random_problem(random, shape);
    const std::vector<Solution> all = all_strategies(tables);
    DualBound bound = bound_of(tables);
    const Choices some(tables.variables.size(), 0);
    dropped += drop_dominated(bound, some, {});
    const std::vector<Choices> left = bound.choices();
    for (const Choices& choices : left) ASSERT_FALSE(choices.empty());
    if (all.empty()) continue;
    for (std::uint32_t v = 0; v < left.size(); ++v) {
      ASSERT_TRUE(bound.alive(v, all.front().choices[v])) << "seed " << seed;
    }
  }
  EXPECT_GT(dropped, 300u);
}

TEST(BestKnown, KeepsTheBestDifferentOnesInOrder) {
  BestKnown known(2);
  EXPECT_TRUE(known.offer({1, 0}, 5));
  EXPECT_FALSE(known.offer({1, 0}, 5));
  EXPECT_EQ(known.limit(), kInfinity);
  EXPECT_TRUE(known.offer({0, 1}, 5));
  EXPECT_EQ(known.limit(), 5);
  EXPECT_FALSE(known.offer({1, 1}, 5));
  EXPECT_TRUE(known.offer({1, 1}, 4));
  EXPECT_EQ(known.best()[0].choices, (Choices{1, 1}));
  EXPECT_EQ(known.best()[1].choices, (Choices{0, 1}));
}

TEST(Ascend, FindsTheOptimumOfSmallProblemsMostOfTheTime) {
  int optimal = 0, runs = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const CostTables tables = random_problem(random, random_shape(random));
    const double optimum = exhaustive_optimum(tables);
    if (optimum == kInfinity) continue;
    Subproblem problem(tables);
    BestKnown known(1);
    ascend(problem, known, {}, {});
    ASSERT_GE(known.best_seconds(), optimum) << "seed " << seed;
    ++runs;
    if (known.best_seconds() == optimum) ++optimal;
  }
  EXPECT_GT(optimal, runs * 9 / 10);
}

}  // namespace
}  // namespace strata
