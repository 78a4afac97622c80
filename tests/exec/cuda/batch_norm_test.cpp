// Batch norm where it is hard: moments far from zero, and more rows than small layers have.

#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "exec/cuda/kernels/kernels.h"
#include "tests/exec/cuda/harness.h"
#include "tests/exec/cuda/plain_values.h"

namespace strata::cuda {
namespace {

struct Moments {
  double mean = 0, squares = 0;
};

/// Of values that lie channel by channel.
Moments moments_of(const std::vector<double>& values, std::size_t channel, std::size_t channels) {
  Moments moments;
  const auto count = static_cast<double>(values.size() / channels);
  for (std::size_t i = channel; i < values.size(); i += channels) moments.mean += values[i] / count;
  for (std::size_t i = channel; i < values.size(); i += channels) {
    moments.squares += (values[i] - moments.mean) * (values[i] - moments.mean);
  }
  return moments;
}

/// What a kernel's first phase says of them, as (mean, squares) of each channel.
std::vector<float> statistics_of(const std::vector<double>& values, const Extents& extents) {
  GraphBuilder builder("one layer", extents[Dim::n]);
  Extents sample = extents;
  sample[Dim::n] = 1;
  const LayerId layer = builder.add("y", BatchNorm{}, {builder.add("x", Input{sample}, {})});
  const Graph graph = std::move(builder).build();
  Seat seat(0, Precision::fp32);
  const LastingMemory x = put<float>(values, seat);
  const LastingMemory statistics(0, 2 * extents[Dim::c] * std::int64_t{sizeof(float)});
  const Box box = whole(extents);
  const auto kernel = make_kernel(seat, {&graph, layer, box, {{box}}});
  const Region input = {x.data(), box};
  Operands operands;
  operands.inputs = {&input, 1};
  operands.statistics = static_cast<float*>(statistics.data());
  kernel->run(Phase::forward_statistics, operands);
  return get(statistics, seat);
}

void expect_moments(std::int64_t channels, std::int64_t rows,
                    const std::function<float(std::int64_t row)>& value) {
  SCOPED_TRACE(testing::Message() << rows << " x " << channels);
  std::vector<double> values;
  for (std::int64_t i = 0; i < rows * channels; ++i) values.push_back(value(i / channels));
  const std::vector<float> got = statistics_of(values, {{1, channels, 1, 1, rows}});
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
    const Moments wanted = moments_of(values, c, static_cast<std::size_t>(channels));
    const double deviation = std::sqrt(wanted.squares / static_cast<double>(rows));
    EXPECT_NEAR(got[2 * c], wanted.mean, 1e-7 * std::abs(wanted.mean) + 1e-6 * deviation);
    EXPECT_NEAR(got[2 * c + 1], wanted.squares, 1e-5 * wanted.squares);
  }
}

TEST(BatchNorm, KeepsTheDigitsOfADeviationFarFromZero) {
  Random random(1);
  std::normal_distribution<float> draw(1e4F, 1);
  for (std::int64_t channels : {1, 3, 8}) {
    for (std::int64_t rows : {2, 7, 100, 30000}) {
      expect_moments(channels, rows, [&](std::int64_t) { return draw(random); });
    }
  }
}

// Each thread measures from its first row: here all of those lie far from the rest.
TEST(BatchNorm, KeepsTheDigitsWhereTheFirstRowsLieFarOff) {
  Random random(1);
  std::normal_distribution<float> draw(0, 1);
  expect_moments(4, 30000, [&](std::int64_t row) { return row < 2000 ? 1e4F : draw(random); });
  expect_moments(4, 30000, [&](std::int64_t row) { return row == 0 ? 1e4F : draw(random); });
}

TEST(BatchNorm, FindsNoDeviationInAConstant) {
  const std::vector<float> got =
      statistics_of(std::vector<double>(3000, 0.1F), {{1, 3, 1, 10, 100}});
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(got[2 * c], 0.1F);
    EXPECT_EQ(got[2 * c + 1], 0);
  }
}

/// A tensor whose rows each thread has several of, and whose partial results a team joins.
TEST(BatchNorm, OfManyRowsIsAsTheReference) {
  for (Precision precision : {Precision::fp32, Precision::bf16}) {
    for (std::int64_t channels : {5, 16}) {
      Random random(1);
      HostGpus site(precision);
      const DrawnLayer drawn(site, {{3, channels, 2, 20, 21}}, BatchNorm{}, random);
      expect_as_reference(site, drawn, {});
      expect_as_reference(site, drawn, {{{2, 1, 1, 2, 1}}});
    }
  }
}

TEST(BatchNorm, OfAConstantIsItsShift) {
  HostGpus site(Precision::fp32);
  Random random(1);
  DrawnLayer drawn(site, {{2, 3, 1, 2, 2}}, BatchNorm{}, random);
  std::fill(drawn.x.values.begin(), drawn.x.values.end(), 1000.0);
  drawn.weights.bias = {0.25, 0.5, 0.75};
  const reference::LayerCall call{&drawn.graph, LayerId(1), {&drawn.x}, &drawn.weights, {}, {}};
  const reference::Tensor y = shards::LayerOnShards(site, call, {}).forward();
  for (std::int64_t i = 0; i < y.size(); ++i)
    EXPECT_EQ(y[i], drawn.weights.bias[static_cast<std::size_t>(i / 4 % 3)]);
}

}  // namespace
}  // namespace strata::cuda
