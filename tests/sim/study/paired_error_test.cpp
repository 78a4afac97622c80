// What pairs of a prediction and a measurement say of the error, and how often they are right.

#include "sim/study/validate/paired_error.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/counter_random.h"

namespace strata {
namespace {

std::vector<StepPair> pairs_of(const std::vector<double>& errors) {
  std::vector<StepPair> pairs;
  for (double error : errors) pairs.push_back({{1 + error}, {1}});
  return pairs;
}

PairedError between(double low, double high, double confidence = 0.95) {
  return {(low + high) / 2, low, high, confidence, 10};
}

// Of six fair coins all fall on one side once in 32 times; of nine, one at most falls on the other
// side in 10 of 256 cases, counted for both sides.
TEST(PairedError, TheIntervalLeavesOutAsManyAsChanceAllows) {
  const PairedError six = paired_error(pairs_of({0.3, -0.1, 0.2, 0.1, 0, 0.4}));
  EXPECT_NEAR(six.low, -0.1, 1e-12);
  EXPECT_NEAR(six.high, 0.4, 1e-12);
  EXPECT_NEAR(six.confidence, 1 - 1.0 / 32, 1e-12);
  EXPECT_NEAR(six.median, std::sqrt(1.1 * 1.2) - 1, 1e-12);
  const PairedError nine = paired_error(pairs_of({9, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_NEAR(nine.median, 5, 1e-9);
  EXPECT_NEAR(nine.low, 2, 1e-9);
  EXPECT_NEAR(nine.high, 8, 1e-9);
  EXPECT_NEAR(nine.confidence, 1 - 10.0 / 256, 1e-12);
}

TEST(PairedError, OnePairSaysNothingOfTheInterval) {
  const PairedError one = paired_error(pairs_of({0.2}));
  EXPECT_NEAR(one.median, 0.2, 1e-12);
  EXPECT_NEAR(one.confidence, 0, 1e-12);
  EXPECT_EQ(judge(one, 1), Judgement::too_few);
}

// Prediction and step are products of the machine's pace and noise of their own, which has long
// tails. The true error is 10 %.
TEST(PairedError, TheTrueErrorIsInTheIntervalAsOftenAsItSays) {
  constexpr std::uint64_t kSeed = 20261123;
  constexpr int kTrials = 4000;
  SCOPED_TRACE(kSeed);
  const CounterRandom random(kSeed, "coverage");
  std::uint64_t k = 0;
  const auto long_tailed = [&] {
    const double body = 0.05 * random.normal(k++), tail = random.uniform(k++);
    return std::exp(body) * (tail < 0.1 ? 2 : 1);
  };
  for (std::size_t count : {6u, 7u, 9u, 15u, 40u}) {
    SCOPED_TRACE(count);
    int inside = 0;
    double confidence = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<StepPair> pairs;
      for (std::size_t i = 0; i < count; ++i) {
        const double pace = std::exp(random.normal(k++));
        pairs.push_back({{1.1 * pace * long_tailed()}, {pace * long_tailed()}});
      }
      const PairedError error = paired_error(pairs);
      inside += error.low <= 0.1 && 0.1 <= error.high;
      confidence = error.confidence;
    }
    EXPECT_GE(confidence, 0.95);
    // Four standard errors.
    EXPECT_NEAR(inside / double{kTrials}, confidence,
                4 * std::sqrt(confidence * (1 - confidence) / kTrials));
  }
}

TEST(PairedError, AnIntervalOnOneSideOfTheLimitSaysAll) {
  EXPECT_EQ(judge(between(-0.09, 0.09), 0.1), Judgement::holds);
  EXPECT_EQ(judge(between(0.2, 0.9), 0.1), Judgement::off);
  EXPECT_EQ(judge(between(-0.9, -0.2), 0.1), Judgement::off);
  EXPECT_EQ(judge(between(-0.9, -0.2, 0.9), 0.1), Judgement::too_few);
}

TEST(PairedError, AWideIntervalAcrossTheLimitSaysNothing) {
  EXPECT_EQ(judge(between(-0.2, 0.05), 0.1), Judgement::too_noisy);
  EXPECT_EQ(judge(between(0.06, 0.13), 0.1), Judgement::holds);
  EXPECT_EQ(judge(between(0.08, 0.15), 0.1), Judgement::off);
}

// Half a width of 20 % must shrink by four: sixteen times as many.
TEST(PairedError, NoiseTellsHowManyPairsItTakes) {
  EXPECT_EQ(pairs_to_judge(between(-0.2, 0.2)), 160u);
  EXPECT_EQ(pairs_to_judge(between(0, 0.001)), 9u);
}

}  // namespace
}  // namespace strata
