// Pooling where small random layers seldom go: windows that several threads share, many taps, ties,
// what is no number, and windows over padding alone.

#include <algorithm>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/exec/cuda/harness.h"

namespace strata::cuda {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

AdaptivePooling adaptive(PoolMode mode, std::int64_t d, std::int64_t h, std::int64_t w) {
  return {3, mode, d, h, w};
}

Pooling sliding(PoolMode mode, Window h, Window w, bool count_include_pad = true) {
  Pooling op{2, mode, {}, false, count_include_pad};
  op.windows.h = h, op.windows.w = w;
  return op;
}

/// In both modes, both types, whole and cut.
template <class OpOf>
void expect_in_all_ways(const Extents& extents, const OpOf& op_of) {
  for (Precision precision : {Precision::fp32, Precision::bf16}) {
    for (PoolMode mode : {PoolMode::max, PoolMode::average}) {
      Random random(1);
      HostGpus site(precision);
      const DrawnLayer drawn(site, extents, op_of(mode), random);
      expect_as_reference(site, drawn, {});
      expect_as_reference(site, drawn, {{{1, 2, 1, 1, 1}}});
    }
  }
}

TEST(Pooling, OfFewOutputsSharesItsWindows) {
  expect_in_all_ways({{2, 16, 1, 7, 7}}, [](PoolMode mode) { return adaptive(mode, 1, 1, 1); });
  expect_in_all_ways({{2, 5, 3, 5, 7}}, [](PoolMode mode) { return adaptive(mode, 1, 2, 1); });
  expect_in_all_ways({{1, 2, 1, 1, 100}}, [](PoolMode mode) { return adaptive(mode, 1, 1, 3); });
}

TEST(Pooling, CountsTheTapsOfLargeWindows) {
  for (std::int64_t side : {15, 16, 17}) {  // a byte numbers 255
    expect_in_all_ways({{1, 8, 1, 21, 20}}, [&](PoolMode mode) {
      return sliding(mode, {side, 2, 3, 4, 1}, {side, 1, 2, 0, 1}, false);
    });
    expect_in_all_ways({{1, 2, 1, side, side + 1}},
                       [](PoolMode mode) { return adaptive(mode, 1, 1, 1); });
  }
}

/// A row of one channel, pooled whole; the gradient is 1, 2, 3, ...
struct PooledRow {
  std::vector<double> y, dx;
};

PooledRow pooled_row(Precision precision, const Op& op, const std::vector<double>& x) {
  HostGpus site(precision);
  Random random(1);
  DrawnLayer drawn(site, {{1, 1, 1, 1, static_cast<std::int64_t>(x.size())}}, op, random);
  drawn.x.values = x;
  for (std::size_t i = 0; i < drawn.dy.values.size(); ++i) {
    drawn.dy.values[i] = static_cast<double>(i + 1);
  }
  const reference::LayerCall call{&drawn.graph, LayerId(1), {&drawn.x}, &drawn.weights, {}, {}};
  shards::LayerOnShards shards(site, call, {});
  PooledRow result{shards.forward().values, {}};
  result.dx = shards.backward(drawn.dy).inputs[0].values;
  return result;
}

class PoolingOf : public testing::TestWithParam<Precision> {
 protected:
  PooledRow row(const Op& op, const std::vector<double>& x) const {
    return pooled_row(GetParam(), op, x);
  }
};
INSTANTIATE_TEST_SUITE_P(Pooling, PoolingOf, testing::Values(Precision::fp32, Precision::bf16));

TEST_P(PoolingOf, EqualMaximaGivesTheFirstTheGradient) {
  const Pooling op = sliding(PoolMode::max, {}, {3, 2, 1, 1, 1});
  const PooledRow found = row(op, {5, 5, 5, 5, 5});
  EXPECT_THAT(found.y, Each(5));
  EXPECT_THAT(found.dx, ElementsAre(1, 2, 0, 3, 0));
}

TEST_P(PoolingOf, EqualMaximaOfAWindowThatThreadsShareDoesSo) {
  std::vector<double> x(64, 0.0);
  for (std::size_t i : {13, 14, 40, 63}) x[i] = 2;
  const PooledRow found = row(adaptive(PoolMode::max, 1, 1, 1), x);
  std::vector<double> wanted(64, 0.0);
  wanted[13] = 1;
  EXPECT_THAT(found.y, ElementsAre(2));
  EXPECT_EQ(found.dx, wanted);
}

// As PyTorch, and as the CPU: the last of several has the gradient.
TEST_P(PoolingOf, WhatIsNoNumberIsNone) {
  const Pooling op = sliding(PoolMode::max, {}, {3, 3, 0, 0, 1});
  const PooledRow found = row(op, {1, kNaN, 7, 1, 2, 3, kNaN, kInfinity, kNaN});
  EXPECT_TRUE(std::isnan(found.y[0]) && std::isnan(found.y[2]));
  EXPECT_EQ(found.y[1], 3);
  EXPECT_THAT(found.dx, ElementsAre(0, 1, 0, 0, 0, 2, 0, 0, 3));
}

TEST_P(PoolingOf, WhatIsNoNumberIsNoneWhereThreadsShareAWindow) {
  for (PoolMode mode : {PoolMode::max, PoolMode::average}) {
    std::vector<double> x(64, 1.0);
    x[20] = kNaN, x[50] = kInfinity;
    EXPECT_TRUE(std::isnan(row(adaptive(mode, 1, 1, 1), x).y[0]));
  }
}

TEST_P(PoolingOf, InfinitiesIsOne) {
  const Pooling op = sliding(PoolMode::max, {}, {2, 2, 0, 0, 1});
  const PooledRow found = row(op, {1, kInfinity, -kInfinity, 3, -kInfinity, -kInfinity});
  EXPECT_THAT(found.y, ElementsAre(kInfinity, 3, -kInfinity));
  EXPECT_THAT(found.dx, ElementsAre(0, 1, 0, 2, 0, 0));
}

// Taps at -1 and 1, of inputs 0 alone: no shard needs anything.
TEST_P(PoolingOf, PaddingAloneIsMinusInfinity) {
  HostGpus site(GetParam());
  Random random(1);
  const Pooling op = sliding(PoolMode::max, {3, 1, 0, 0, 1}, {2, 1, 1, 1, 2});
  const DrawnLayer drawn(site, {{2, 3, 1, 5, 1}}, op, random);
  const reference::LayerCall call{&drawn.graph, LayerId(1), {&drawn.x}, &drawn.weights, {}, {}};
  shards::LayerOnShards shards(site, call, {{{1, 1, 1, 2, 1}}});
  EXPECT_THAT(shards.forward().values, Each(-kInfinity));
  EXPECT_THAT(shards.backward(drawn.dy).inputs[0].values, Each(0));
}

}  // namespace
}  // namespace strata::cuda
