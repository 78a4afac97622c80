#include "sim/solver/step_estimate.h"

#include <memory>

#include <gtest/gtest.h>

#include "tests/sim/solver/problems.h"

namespace strata {
namespace {

using testing::make_graph;

// A chain of two variables. The last one computes 30 s whichever way, and may have 12 or 25 s of
// sums; the first computes 30 s and has 5 s of sums or none.
class StepEstimateTest : public ::testing::Test {
 protected:
  static CostTables tables() {
    CostTables tables = make_graph(2, {{0, 1}});
    tables.variables = {vector({35, 30}), vector({42, 55})};
    tables.edges.front().table = std::make_shared<const CostTable>(CostTable{2, 2, {0, 0, 0, 8}});
    return tables;
  }
  static CostTables::Vector vector(std::vector<double> seconds) {
    return std::make_shared<const std::vector<double>>(std::move(seconds));
  }

  const CostTables tables_ = tables();
  const std::vector<std::vector<double>> compute_ = {{30, 30}, {30, 30}};
  StepEstimate estimate_{tables_, compute_};
};

TEST_F(StepEstimateTest, TheRestOfTheBackwardPassHidesSums) {
  // The first variable's backward pass takes 20 s of its 30: it hides the 12 s. Its own sums are
  // left, and half of the forward passes, 10 of 20 s, hides these.
  EXPECT_DOUBLE_EQ(estimate_.seconds(Choices{0, 0}), 60);
  // Of 25 s it leaves 5; with its own 5, that is what the forward passes hide.
  EXPECT_DOUBLE_EQ(estimate_.seconds(Choices{0, 1}), 60);
}

TEST_F(StepEstimateTest, WhatNothingHidesIsAdded) {
  const std::vector<std::vector<double>> less = {{30, 15}, {30, 30}};
  const StepEstimate estimate(tables_, less);
  // Choice 1 of the first variable: 15 s, and 15 s of sums. Its backward pass, 10 s and half of the
  // 8 s of the transfer, leaves 11 of 25 s. Of 11 + 15 s the forward passes, 15 s, hide half of
  // theirs.
  EXPECT_DOUBLE_EQ(estimate.seconds(Choices{1, 1}), 15 + 30 + 8 + 26 - 7.5);
}

TEST_F(StepEstimateTest, LearnsWhatAChoiceAdds) {
  // Choice 1 of the last variable takes 3 s more than the estimate has it.
  const std::vector<KnownStep> steps = {{{0, 0}, 60}, {{0, 1}, 63}, {{1, 0}, 60}};
  const std::vector<const KnownStep*> known = {&steps[0], &steps[2], &steps[1]};
  estimate_.learn(known);
  const double slower = estimate_.seconds(Choices{0, 1}) - estimate_.seconds(Choices{0, 0});
  EXPECT_GT(slower, 1.5);
  EXPECT_LT(slower, 3);
  // That is so beside a choice that it was never seen with, and only until it learns anew.
  EXPECT_NEAR(estimate_.seconds(Choices{1, 1}) - estimate_.seconds(Choices{1, 0}), 8 + slower,
              1e-6);
  estimate_.learn({});
  EXPECT_DOUBLE_EQ(estimate_.seconds(Choices{0, 1}), 60);
}

}  // namespace
}  // namespace strata
