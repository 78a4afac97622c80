#include "sim/solver/refine.h"

#include <algorithm>
#include <atomic>
#include <random>

#include <gtest/gtest.h>

#include "sim/base/cancel.h"
#include "tests/sim/solver/problems.h"

namespace strata {
namespace {

using testing::make_tables;

// A chain of six variables of three choices each. The tables favour choice 0 everywhere; the real
// measure is 10 - (how many variables choose 2), and 5 less where all do: the tables mislead.
class Refine : public ::testing::Test {
 protected:
  Refinement run(std::size_t evaluations, unsigned threads = 0) const {
    SolveLimits limits;
    limits.threads = threads;
    return refine({&tables_, 1}, starts_, measure_, {evaluations, kinds_, {}, estimate_}, limits);
  }

  int draws_ = 0;
  CostTables tables_ =
      make_tables(std::vector<std::size_t>(6, 3), {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}},
                  [this] { return static_cast<double>(draws_++ % 3); });
  ChoiceKinds kinds_{6, {0, 1, 2}};
  std::optional<StepEstimate> estimate_;
  std::vector<Choices> starts_ = {Choices(6, 0)};
  Evaluate measure_ = [](const Choices& choices) {
    const auto twos = std::count(choices.begin(), choices.end(), 2u);
    return 10. - static_cast<double>(twos) - (twos == 6 ? 5 : 0);
  };
};

TEST_F(Refine, FindsWhatTheTablesDoNotSee) {
  const Refinement result = run(200);
  EXPECT_EQ(result.best.front(), (Evaluated{Choices(6, 2), -1}));
  EXPECT_LE(result.evaluations, 200u);
  EXPECT_FALSE(result.stopped);
}

TEST_F(Refine, StartsAreAlwaysEvaluatedAndNeverLost) {
  starts_ = {Choices(6, 0), Choices(6, 2), Choices(6, 1)};
  const Refinement result = run(1);
  EXPECT_EQ(result.best, (std::vector<Evaluated>{
                             {Choices(6, 2), -1}, {Choices(6, 0), 10}, {Choices(6, 1), 10}}));
}

TEST_F(Refine, ARunOfEqualChoicesMovesAsOne) {
  // Nothing between all and none is any good, so one variable at a time leads nowhere.
  measure_ = [](const Choices& choices) {
    const auto ones = std::count(choices.begin(), choices.end(), 1u);
    return ones == 6 ? 1. : 2. + static_cast<double>(ones);
  };
  EXPECT_EQ(run(200).best.front(), (Evaluated{Choices(6, 1), 1}));
}

TEST_F(Refine, OnlyEqualCutsMakeARun) {
  std::fill(kinds_.begin() + 3, kinds_.end(), Choices{3, 4, 5});
  std::atomic<bool> together{false};
  measure_ = [&](const Choices& choices) {
    if (choices == Choices(6, 1)) together = true;
    return 1 + static_cast<double>(std::count(choices.begin(), choices.end(), 1u));
  };
  run(100);
  EXPECT_FALSE(together);
}

TEST_F(Refine, TakesOverStretchesOfAnotherStart) {
  // The best of both: the head of one start, the tail of the other.
  starts_ = {Choices(6, 0), {2, 2, 1, 1, 2, 2}};
  const Choices mixed = {0, 0, 1, 1, 2, 2};
  measure_ = [&](const Choices& choices) {
    double wrong = 0;
    for (std::size_t v = 0; v < 6; v += 2)
      wrong += choices[v] != mixed[v] || choices[v + 1] != mixed[v + 1];
    return wrong;
  };
  EXPECT_EQ(run(200).best.front(), (Evaluated{mixed, 0}));
}

TEST_F(Refine, AnEstimateLeadsWhereTheTablesDoNot) {
  // Of 24 variables of 16 choices, choice 15 is best by little and the dearest under the tables.
  // The estimate learns from the first ones tried that such choices are worth it.
  const std::size_t variables = 24;
  draws_ = 0;
  tables_ = make_tables(std::vector<std::size_t>(variables, 16), {},
                        [this] { return static_cast<double>(draws_++ % 16); });
  kinds_.clear();
  for (std::uint32_t v = 0; v < variables; ++v) {
    for (Choices& of_one = kinds_.emplace_back(); of_one.size() < 16;) {
      of_one.push_back(16 * v + static_cast<std::uint32_t>(of_one.size()));
    }
  }
  starts_ = {Choices(variables, 0)};
  measure_ = [](const Choices& choices) {
    return 100. - static_cast<double>(std::count(choices.begin(), choices.end(), 15u));
  };
  std::vector<std::vector<double>> compute;
  for (const auto& seconds : tables_.variables) compute.push_back(*seconds);
  const double without = run(400).best.front().seconds;
  estimate_.emplace(tables_, compute);
  const Refinement with = run(400);
  EXPECT_LT(with.best.front().seconds, without);
  EXPECT_LE(with.evaluations, 400u);
}

TEST_F(Refine, WhatIsNotAllowedIsNeverReturned) {
  measure_ = [](const Choices& choices) { return choices[0] == 0 ? kInfinity : 1.; };
  EXPECT_TRUE(run(50).best.empty());
  starts_.push_back({1, 0, 0, 0, 0, 0});
  for (const Evaluated& e : run(50).best) EXPECT_NE(e.choices[0], 0u);
}

TEST_F(Refine, DoesNotDependOnTheThreads) {
  std::mt19937 random(7);
  std::vector<double> noise(729);
  for (double& value : noise) value = static_cast<double>(random() % 100);
  measure_ = [&](const Choices& choices) {
    std::size_t at = 0;
    for (std::uint32_t choice : choices) at = 3 * at + choice;
    return noise[at];
  };
  const Refinement one = run(150, 1), four = run(150, 4);
  EXPECT_EQ(one.best, four.best);
  EXPECT_EQ(one.evaluations, four.evaluations);
  std::vector<std::vector<double>> compute;
  for (const auto& seconds : tables_.variables) compute.push_back(*seconds);
  estimate_.emplace(tables_, compute);
  const Refinement guided = run(150, 1);
  EXPECT_EQ(guided.best, run(150, 4).best);
  EXPECT_NE(guided.best, one.best);
  EXPECT_LE(one.best.front().seconds, noise.front());
}

TEST_F(Refine, KeepsWhatItHasWhenCalledOff) {
  std::atomic<bool> cancelled{false};
  std::atomic<int> calls{0};
  SolveLimits limits;
  limits.cancelled = &cancelled;
  const Evaluate stop_at_20 = [&](const Choices& choices) {
    if (++calls == 20) cancelled = true;
    return measure_(choices);
  };
  const Refinement result = refine({&tables_, 1}, starts_, stop_at_20, {200, kinds_}, limits);
  EXPECT_TRUE(result.stopped);
  EXPECT_FALSE(result.best.empty());
  EXPECT_LE(result.best.front().seconds, measure_(starts_.front()));
}

TEST_F(Refine, WhatIsCalledOffMeanwhileCountsAsNotEvaluated) {
  std::atomic<bool> cancelled{false};
  std::atomic<int> calls{0};
  SolveLimits limits;
  limits.cancelled = &cancelled;
  limits.threads = 1;
  for (const int last : {0, 1, 20}) {
    calls = 0;
    cancelled = false;
    const Evaluate called_off = [&](const Choices& choices) {
      if (calls++ == last) cancelled = true;
      throw_if_cancelled(&cancelled);
      return measure_(choices);
    };
    const Refinement result = refine({&tables_, 1}, starts_, called_off, {200, kinds_}, limits);
    EXPECT_TRUE(result.stopped);
    EXPECT_EQ(result.evaluations, static_cast<std::size_t>(last));
    EXPECT_EQ(result.best.size(), static_cast<std::size_t>(last));
  }
}

}  // namespace
}  // namespace strata
