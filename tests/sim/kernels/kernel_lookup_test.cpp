#include "sim/kernels/kernel_lookup.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "sim/base/counter_random.h"
#include "sim/kernels/kernel_model.h"

namespace strata {
namespace {

// Passes over memory: 10 us and 100 GB/s, so 4,000 elements of two fp32 tensors take 10.32 us.
KernelTable passes(std::vector<KernelRow> rows) {
  return {KernelKind::elementwise, DType::fp32, {}, {}, {}, {}, {1e-5, 1e11}, {}, std::move(rows)};
}

KernelRow pass(std::int64_t elements, double times_the_model) {
  const KernelTable none = passes({});
  const Seconds model = modelled(none.kernel, none.dtype, none.parameters, {2, elements});
  return {{2, elements}, 1e3 * times_the_model * model.value};
}

double ratio_at(const KernelTable& table, std::int64_t elements) {
  const KernelShape shape = {2, elements};
  const KernelLookup times(table);
  const auto time = times(shape);
  if (!time) return 0;
  return time->seconds / modelled(table.kernel, table.dtype, table.parameters, shape);
}

TEST(KernelModel, OfAPassIsItsLaunchAndItsBytes) {
  EXPECT_NEAR(
      modelled(KernelKind::elementwise, DType::fp32, std::vector{1e-5, 1e11}, {2, 4000}).value,
      1e-5 + 32000 / 1e11, 1e-18);
}

TEST(KernelModel, OfAProductPaysForWholeTilesAndRounds) {
  // 4 cores of 1 TFLOP/s each, no launch, nothing lost to edges: 256 x 256 x 64 is two tiles of
  // 256 x 128 or four of 128 x 128, one on each core; one more row of the output is another row of
  // tiles, of which a second round begins.
  const std::vector<double> p = {0, 4e12, 1e18, 0, 0, 1e9, 0, 4};
  const auto seconds = [&](std::int64_t m) {
    return modelled(KernelKind::product, DType::bf16, p, {1, m, 256, 64}).value;
  };
  EXPECT_NEAR(seconds(256), 2.0 * 128 * 128 * 64 / 1e12, 1e-12);
  EXPECT_GT(seconds(257), 1.2 * seconds(256));
  EXPECT_NEAR(seconds(512), 2 * seconds(256), 1e-12);
}

TEST(KernelLookup, ARowIsMeasuredAndWhatIsBetweenIsNot) {
  const KernelTable table = passes({pass(1000, 1), pass(4000, 1)});
  const KernelLookup times(table);
  const auto row = times({2, 1000}), between = times({2, 2000});
  ASSERT_TRUE(row && between);
  EXPECT_TRUE(row->measured);
  EXPECT_EQ(row->seconds, table.rows[0].seconds());
  EXPECT_FALSE(between->measured);
  EXPECT_NEAR(ratio_at(table, 2000), 1, 1e-9);  // the model's own step between them
}

TEST(KernelLookup, RatiosAreInterpolatedNotTimes) {
  // Halfway in the logarithm of the elements, and so of the ratio.
  const KernelTable table = passes({pass(1000, 1), pass(4000, 4)});
  EXPECT_NEAR(ratio_at(table, 2000), 2, 0.02);
  EXPECT_GT(ratio_at(table, 3000), ratio_at(table, 2000));
  EXPECT_LT(ratio_at(table, 8000), 4.01);  // no ratio beyond those that were measured
}

TEST(KernelLookup, FarFromEveryRowNothingIsSaid) {
  const KernelTable table = passes({pass(1000, 1)});
  const KernelLookup times(table);
  EXPECT_TRUE(times({2, 9000}));  // e^2.2 = 9.03
  EXPECT_FALSE(times({2, 9100}));
  EXPECT_FALSE(KernelLookup(passes({}))({2, 1000}));
}

TEST(KernelLookup, ARowSaysNothingOfItselfWhenItIsLeftOut) {
  const KernelTable table = passes({pass(1000, 1), pass(2000, 9), pass(4000, 1)});
  const KernelLookup times(table);
  const Seconds model = modelled(table.kernel, table.dtype, table.parameters, {2, 2000});
  ASSERT_TRUE(times.between({2, 2000}));
  EXPECT_NEAR(*times.between({2, 2000}) / model, 1, 1e-9);
}

TEST(NearestRows, AreThoseOfASearchOfAll) {
  const CounterRandom random(7, "points");
  std::vector<Coordinates> points;
  for (std::uint64_t i = 0; i < 500; ++i) {
    points.push_back({std::floor(8 * random.uniform(3 * i)), random.uniform(3 * i + 1),
                      4 * random.uniform(3 * i + 2)});
  }
  const NearestRows tree(points);
  for (std::uint64_t q = 0; q < 200; ++q) {
    const Coordinates at = {8 * random.uniform(5000 + q), random.uniform(6000 + q), 2};
    std::vector<double> all;
    for (const Coordinates& point : points) {
      double sum = 0;
      for (std::size_t i = 0; i < kCoordinates; ++i) sum += std::pow(point[i] - at[i], 2);
      all.push_back(sum);
    }
    std::sort(all.begin(), all.end());
    const NearestRows::Found found = tree(at);
    std::vector<double> nearest;
    for (std::size_t i = 0; i < found.count; ++i) nearest.push_back(found.rows[i].squared_distance);
    std::sort(nearest.begin(), nearest.end());
    ASSERT_EQ(nearest.size(), NearestRows::kMost);
    for (std::size_t i = 0; i < nearest.size(); ++i) EXPECT_NEAR(nearest[i], all[i], 1e-12);
  }
}

}  // namespace
}  // namespace strata
