#include "sim/cost/measured_costs.h"

#include <gtest/gtest.h>

#include "sim/cost/work.h"
#include "tests/sim/cost/toy_profile.h"

namespace strata {
namespace {

Extents line(std::int64_t width) {
  return {{1, 1, 1, 1, width}};
}

MeasuredCost relu_row(std::int64_t width, double seconds) {
  return {{"relu", DType::fp32, Phase::forward, line(width), {line(width)}},
          {seconds},
          {0},
          10,
          "here"};
}

Cost relu(const Profile& profile, std::int64_t width, Phase phase = Phase::forward,
          DType dtype = DType::fp32) {
  const Op op = Activation{};
  const std::vector<Extents> inputs = {line(width)};
  return make_cost_model(profile)->compute({&op, line(width), inputs, {}, dtype}, phase);
}

Profile with_rows(std::vector<MeasuredCost> rows) {
  Profile p = toy_profile();
  p.measured = std::move(rows);
  return p;
}

void expect_cost(const Cost& cost, CostSource source, double seconds) {
  EXPECT_EQ(cost.source, source);
  EXPECT_DOUBLE_EQ(cost.seconds.value, seconds);
}

// Twice the width is twice the work (input and output alike). The toy's roofline for 1,000
// elements: 10 us and 8,000 bytes at 50 GB/s, 0.16 us.
TEST(MeasuredCosts, MeasuredBeforeInterpolatedBeforeAnalytic) {
  const Profile p = with_rows({relu_row(1000, 1.0), relu_row(4000, 16.0)});
  expect_cost(relu(p, 1000), CostSource::measured, 1);
  expect_cost(relu(p, 4000), CostSource::measured, 16);
  expect_cost(relu(p, 2000), CostSource::interpolated, 4);  // halfway in log work and in log time
  expect_cost(relu(p, 1000, Phase::backward_data), CostSource::analytic, 10e-6 + 0.24e-6);
  expect_cost(relu(p, 1000, Phase::forward, DType::fp16), CostSource::analytic, 10e-6 + 0.08e-6);
  expect_cost(relu(toy_profile(), 1000), CostSource::analytic, 10e-6 + 0.16e-6);
}

TEST(MeasuredCosts, OneNeighbourStandsForTwiceOrHalfItsWork) {
  const Profile p = with_rows({relu_row(1000, 3.0)});
  expect_cost(relu(p, 2000), CostSource::interpolated, 6);
  expect_cost(relu(p, 500), CostSource::interpolated, 1.5);
  EXPECT_EQ(relu(p, 2001).source, CostSource::analytic);
  EXPECT_EQ(relu(p, 499).source, CostSource::analytic);
}

// 1,000 and 16,000 are further than a factor of 4 from what the other is asked for.
TEST(MeasuredCosts, FarRowsAreNoNeighbours) {
  const Profile p = with_rows({relu_row(1000, 1.0), relu_row(16000, 16.0)});
  expect_cost(relu(p, 4000), CostSource::interpolated, 4);  // both just reach
  EXPECT_EQ(relu(p, 4001).source, CostSource::analytic);  // one is left, and beyond twice the work
}

TEST(MeasuredCosts, TheNearestRowsOnEachSideAreTaken) {
  const Profile p = with_rows(
      {relu_row(1000, 9.0), relu_row(1500, 1.0), relu_row(2500, 1.0), relu_row(3000, 9.0)});
  expect_cost(relu(p, 2000), CostSource::interpolated, 1);
}

TEST(MeasuredCosts, AnotherSignatureIsAnotherOp) {
  const Profile p = with_rows({relu_row(1000, 1.0)});
  const Op op = Activation{ActivationKind::tanh, 0};
  const std::vector<Extents> inputs = {line(1000)};
  EXPECT_EQ(make_cost_model(p)
                ->compute({&op, line(1000), inputs, {}, DType::fp32}, Phase::forward)
                .source,
            CostSource::analytic);
}

// A measured row cannot make an op's missing phase cost something.
// A device may have to move what by itself is no work: a flatten where channels lie in blocks.
TEST(MeasuredCosts, NoWorkIsFreeUnlessItWasMeasured) {
  MeasuredCost row = relu_row(1000, 1.0);
  expect_cost(relu(with_rows({row}), 1000, Phase::update), CostSource::analytic, 0);
  row.key.phase = Phase::update;
  expect_cost(relu(with_rows({row}), 1000, Phase::update), CostSource::measured, 1.0);
}

// Work of a convolution: output elements times input channels. Twice both channels: 4 times.
TEST(MeasuredCosts, AConvolutionsWorkCountsItsInputChannels) {
  Convolution conv;
  conv.out_channels = 8;
  const auto row = [&](std::int64_t c, double seconds) {
    return MeasuredCost{
        {signature(conv), DType::fp32, Phase::forward, {{1, c, 1, 9, 9}}, {{{1, c, 1, 9, 9}}}},
        {seconds},
        {0},
        10,
        "here"};
  };
  const Op op = conv;
  const std::vector<Extents> inputs = {{{1, 4, 1, 9, 9}}};
  const ShardWork work{&op, {{1, 8, 1, 9, 9}}, inputs, {32, 8}, DType::fp32};
  const auto model = make_cost_model(with_rows({row(4, 1.0), row(8, 4.0)}));
  expect_cost(model->compute(work, Phase::forward), CostSource::interpolated, 2);
}

// Plain SGD moves three numbers a parameter: momentum two more in fp32, Adam four, and both the
// parameter in fp32 where it has 16 bits.
TEST(CostModel, AnUpdateTakesAsMuchLongerAsItMovesMore) {
  const Op op = FullyConnected{10};
  const std::vector<Extents> inputs = {{{1, 20, 1, 1, 1}}};
  const Extents output = {{1, 10, 1, 1, 1}};
  const auto row = [&](DType dtype) {
    return MeasuredCost{{signature(op), dtype, Phase::update, output, inputs}, {3.0}, {0}, 1, "h"};
  };
  const auto plain = make_cost_model(with_rows({row(DType::fp32), row(DType::bf16)}));
  const auto seconds = [&](Optimizer optimizer, DTypes dtypes) {
    const ShardWork work{&op, output, inputs, {200, 10}, dtypes, optimizer};
    return plain->compute(work, Phase::update);
  };
  expect_cost(seconds(Optimizer::sgd, DType::fp32), CostSource::measured, 3);
  expect_cost(seconds(Optimizer::momentum, DType::fp32), CostSource::interpolated, 5);
  expect_cost(seconds(Optimizer::adam, DType::fp32), CostSource::interpolated, 7);
  expect_cost(seconds(Optimizer::adam, DType::bf16), CostSource::interpolated, 15);
  expect_cost(seconds(Optimizer::adam, {DType::bf16, DType::fp32}), CostSource::interpolated, 7);
}

// The row of the optimizer's own update; else, of another's, as much as it moves: three numbers a
// parameter, five or seven.
TEST(CostModel, AnUpdateIsThatOfItsOptimizer) {
  const Op op = FullyConnected{10};
  const std::vector<Extents> inputs = {{{1, 20, 1, 1, 1}}};
  const Extents output = {{1, 10, 1, 1, 1}};
  const auto row = [&](Optimizer optimizer, double seconds) {
    const CostKey key{signature(op), DType::fp32, Phase::update, output, inputs, optimizer};
    return MeasuredCost{key, {seconds}, {0}, 1, "h"};
  };
  const auto update = [&](Profile profile, Optimizer optimizer) {
    const ShardWork work{&op, output, inputs, {200, 10}, DType::fp32, optimizer};
    return make_cost_model(profile)->compute(work, Phase::update);
  };
  const Profile both = with_rows({row(Optimizer::sgd, 3), row(Optimizer::adam, 70)});
  expect_cost(update(both, Optimizer::sgd), CostSource::measured, 3);
  expect_cost(update(both, Optimizer::momentum), CostSource::interpolated, 5);
  expect_cost(update(both, Optimizer::adam), CostSource::measured, 70);
  expect_cost(update(both, Optimizer::adamw), CostSource::interpolated, 70);
  expect_cost(update(both, Optimizer::lion), CostSource::interpolated, 5);
  const Profile adam = with_rows({row(Optimizer::adam, 70)});
  expect_cost(update(adam, Optimizer::sgd), CostSource::interpolated, 30);
  expect_cost(update(adam, Optimizer::momentum), CostSource::interpolated, 50);
}

// Four samples, 2 heads of 8 channels, 16 tokens: tensors of 4 x 16 x 16 elements, scores of
// 4 x 2 x 16 x 16.
TEST(CostModel, AnUnfusedAttentionMovesItsScores) {
  const Extents tensor = {{4, 16, 1, 1, 16}};
  const std::vector<Extents> inputs(3, tensor);
  const auto bytes = [&](double dropout, Phase phase, bool fused) {
    Attention attention;
    attention.head_size = 8;
    attention.causal = true;
    attention.dropout = dropout;
    const Op op = attention;
    return phase_work({&op, tensor, inputs, {}, DType::fp16}, phase,
                      {.attention = fused ? AttentionKernel::fused : AttentionKernel::unfused});
  };
  constexpr std::int64_t kTensors = 4 * 1024, kScores = 2048;
  EXPECT_EQ(bytes(0, Phase::forward, true).bytes, Bytes{2 * kTensors});
  EXPECT_EQ(bytes(0, Phase::forward, false).bytes, Bytes{2 * (kTensors + 4 * kScores)});
  EXPECT_EQ(bytes(0.1, Phase::forward, false).bytes, Bytes{2 * (kTensors + 6 * kScores) + kScores});
  EXPECT_EQ(bytes(0, Phase::backward_data, false).bytes, Bytes{2 * (2 * kTensors + 7 * kScores)});
  // Of all keys, where a fused one computes those that are seen, and again in the backward pass.
  EXPECT_EQ(bytes(0, Phase::forward, false).direct.flops().value, 2.0 * 2 * kScores * 8);
  EXPECT_EQ(bytes(0, Phase::backward_data, false).direct.flops().value, 2.0 * 4 * kScores * 8);
}

TEST(CostModel, KnowsTheMemoryOfItsKind) {
  EXPECT_EQ(make_cost_model(toy_profile())->memory_capacity(), Bytes{1'000'000'000});
}

}  // namespace
}  // namespace strata
