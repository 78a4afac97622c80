// Which times are usual on machines of several kinds, and what disturbed ones do to that.

#include "exec/calibrate/usual_times.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/counter_random.h"

namespace strata {
namespace {

constexpr std::uint64_t kSeed = 11;

std::vector<double> scattered(double deviation, std::size_t count) {
  const CounterRandom random(kSeed, "times");
  std::vector<double> times;
  for (std::size_t i = 0; i < count; ++i) times.push_back(1 + deviation * random.normal(i));
  return times;
}

// The quartiles lie 0.674 deviations from the middle: 2.70 deviations are the limit.
TEST(UsualTimes, TheLimitIsAsWideAsTheMachineScatters) {
  SCOPED_TRACE(kSeed);
  for (double deviation : {0.01, 0.1}) {
    const UsualTimes usual = usual_times(scattered(deviation, 2000));
    EXPECT_NEAR(usual.middle, 1, deviation);
    EXPECT_NEAR(usual.threshold(), 2.7 * deviation, 0.8 * deviation);
  }
}

TEST(UsualTimes, AThirdThatWasDisturbedDoesNotMoveTheLimit) {
  SCOPED_TRACE(kSeed);
  std::vector<double> times = scattered(0.01, 200);
  for (std::size_t i = 0; i < 100; ++i) times.push_back(2 + static_cast<double>(i));
  const double most = usual_times(times).most;
  EXPECT_LT(most, 1.1);
  EXPECT_EQ(std::count_if(times.begin(), times.end(), [&](double t) { return t > 1.5; }), 100);
}

TEST(UsualTimes, OnePercentNeverMatters) {
  const UsualTimes usual = usual_times(std::vector<double>(8, 2.0));
  EXPECT_EQ(usual.middle, 2);
  EXPECT_NEAR(usual.most, 2.02, 1e-12);
  EXPECT_NEAR(usual.threshold(), 0.01, 1e-12);
}

TEST(UsualTimes, AFewTimesSayNothing) {
  const UsualTimes usual = usual_times(std::vector<double>(7, 2.0));
  EXPECT_TRUE(std::isinf(usual.most));
  EXPECT_EQ(usual.threshold(), 0);
}

}  // namespace
}  // namespace strata
