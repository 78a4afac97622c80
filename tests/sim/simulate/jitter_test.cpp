#include "sim/simulate/jitter.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/quantile.h"

namespace strata {
namespace {

std::vector<Cost> three_costs() {
  return {{Seconds{2}, CostSource::measured, 0.1},
          {Seconds{3}, CostSource::analytic, 0},
          {Seconds{5}, CostSource::interpolated, 0.02}};
}

std::vector<double> seconds(const std::vector<Cost>& costs, std::size_t first, std::size_t stride) {
  std::vector<double> values;
  for (std::size_t i = first; i < costs.size(); i += stride)
    values.push_back(costs[i].seconds.value);
  std::sort(values.begin(), values.end());
  return values;
}

TEST(Jitter, HasTheMedianAndTheSpreadThatWereMeasured) {
  constexpr std::size_t kSteps = 40'000;
  const std::vector<Cost> costs = three_costs();
  const std::vector<Cost> drawn = drawn_costs(costs, kSteps, 7);
  ASSERT_EQ(drawn.size(), 3 * kSteps);
  for (std::size_t task : {0, 2}) {
    SCOPED_TRACE(task);
    const std::vector<double> times = seconds(drawn, task, 3);
    const double median = costs[task].seconds.value, spread = costs[task].spread;
    // A quantile of n draws is within a few 1/sqrt(n) of the distribution's.
    EXPECT_NEAR(quantile(times, 0.5) / median, 1, 0.02 * spread + 0.002);
    EXPECT_NEAR((quantile(times, 0.75) - quantile(times, 0.25)) / 2 / median, spread,
                0.03 * spread);
    EXPECT_GT(times.front(), 0);
  }
}

TEST(Jitter, LeavesWhatDoesNotScatter) {
  for (const Cost& cost :
       drawn_costs(std::vector<Cost>(4, {Seconds{3}, CostSource::measured, 0}), 5, 1)) {
    EXPECT_EQ(cost.seconds.value, 3);
    EXPECT_EQ(cost.source, CostSource::measured);
  }
}

TEST(Jitter, IsTheSameForASeedHoweverManyStepsFollow) {
  const std::vector<Cost> costs = three_costs();
  const auto few = seconds(drawn_costs(costs, 2, 3), 0, 1);
  std::vector<Cost> many = drawn_costs(costs, 9, 3);
  many.resize(2 * costs.size());
  EXPECT_EQ(seconds(many, 0, 1), few);
  EXPECT_NE(seconds(drawn_costs(costs, 2, 4), 0, 1), few);
}

}  // namespace
}  // namespace strata
