#include "sim/cost/kernel_costs.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "sim/kernels/kernel_model.h"
#include "tests/sim/cost/toy_profile.h"

namespace strata {
namespace {

// Passes take 20 us and 100 GB/s; products 10 us and 1 TFLOP/s of one core, without any loss.
KernelTable passes(std::vector<KernelRow> rows) {
  return {KernelKind::elementwise, DType::fp32, {}, {}, {}, {}, {2e-5, 1e11}, {}, std::move(rows)};
}
KernelTable products(DType dtype, std::vector<KernelRow> rows) {
  return {KernelKind::product, dtype, {}, {}, {}, {}, {1e-5, 1e12, 1e18, 0, 0, 1e9, 1, 1}, {},
          std::move(rows)};
}

Profile with(std::vector<KernelTable> tables) {
  Profile profile = toy_profile();
  profile.peaks[static_cast<std::size_t>(DType::bf16)] = profile.peaks[0];
  profile.peaks[static_cast<std::size_t>(DType::fp16)] = profile.peaks[0];
  profile.tables = std::move(tables);
  return profile;
}

void expect_kernel_cost(const Cost& cost, CostSource source, double seconds) {
  EXPECT_EQ(cost.source, source);
  EXPECT_NEAR(cost.seconds.value, seconds, 1e-6 * seconds);
}

struct KernelShard {
  Op op;
  Extents output;
  std::vector<Extents> inputs;
  Parameters parameters;
};

Cost kernel_cost(const Profile& profile, const KernelShard& s, Phase phase,
                 DType dtype = DType::fp32) {
  return make_cost_model(profile)->compute({&s.op, s.output, s.inputs, s.parameters, dtype}, phase);
}

// 64 positions of 256 features to 512.
KernelShard linear_shard() {
  Linear op;
  op.out_features = 512;
  op.bias = false;
  return {op, {{1, 512, 1, 1, 64}}, {{{1, 256, 1, 1, 64}}}, {512 * 256, 0}};
}

// A row of 1 ms, beside units that keep up half its rate, or twice that.
TEST(KernelCosts, NoProductIsFasterThanItsUnitsKeepUp) {
  Profile p = with({products(DType::bf16, {{{1, 64, 512, 256}, 1}})});
  const double flops = 2.0 * 64 * 256 * 512;
  auto& sustained = p.sustained[static_cast<std::size_t>(DType::bf16)];
  sustained = {FlopsPerSecond{flops / 5e-4}, ""};
  expect_kernel_cost(kernel_cost(p, linear_shard(), Phase::forward, DType::bf16),
                     CostSource::measured, 1e-3);
  sustained->value = {flops / 2e-3};
  expect_kernel_cost(kernel_cost(p, linear_shard(), Phase::forward, DType::bf16),
                     CostSource::related, 2e-3);
  p.kernels.burst_clocks = true;
  expect_kernel_cost(kernel_cost(p, linear_shard(), Phase::forward, DType::bf16),
                     CostSource::measured, 1e-3);
}

TEST(KernelCosts, AForwardProductIsItsRowAndBackwardOnesAreRelated) {
  const Profile p = with({products(
      DType::bf16, {{{1, 64, 256, 512}, 2}, {{1, 64, 512, 256}, 1}, {{1, 512, 256, 64}, 3}})});
  expect_kernel_cost(kernel_cost(p, linear_shard(), Phase::forward, DType::bf16),
                     CostSource::measured, 1e-3);
  expect_kernel_cost(kernel_cost(p, linear_shard(), Phase::backward_data, DType::bf16),
                     CostSource::related, 2e-3);
  expect_kernel_cost(kernel_cost(p, linear_shard(), Phase::backward_weights, DType::bf16),
                     CostSource::related, 3e-3);
}

TEST(KernelCosts, OnlyATypeOfTheSameUnitsTakesAnothersRows) {
  const Profile p = with({products(DType::bf16, {{{1, 64, 512, 256}, 1}})});
  expect_kernel_cost(kernel_cost(p, linear_shard(), Phase::forward, DType::fp16),
                     CostSource::related, 1e-3);
  EXPECT_EQ(kernel_cost(p, linear_shard(), Phase::forward, DType::fp32).source,
            CostSource::analytic);
  Profile slow = p;
  slow.peaks[static_cast<std::size_t>(DType::fp16)]->value.value /= 2;
  EXPECT_EQ(kernel_cost(slow, linear_shard(), Phase::forward, DType::fp16).source,
            CostSource::analytic);
}

// Where matrix units compute bf16 twice as fast as tf32: 64 x 512 x 256 in tf32 are as many
// instructions as 64 x 512 x 512 in bf16. Where its bytes take longer, these decide: 0.72 MB in 10
// us and at 0.1 GB/s.
TEST(KernelCosts, AProductInTf32IsOneInBf16OfTwiceTheDepth) {
  KernelTable rows = products(DType::bf16, {{{1, 64, 512, 256}, 1}, {{1, 64, 512, 512}, 2}});
  Profile p = with({rows});
  auto half = *p.peaks[0];
  half.value.value /= 2;
  p.peaks[static_cast<std::size_t>(DType::tf32)] = half;
  expect_kernel_cost(kernel_cost(p, linear_shard(), Phase::forward, DType::tf32),
                     CostSource::related, 2e-3);
  p.tables[0].parameters[2] = 1e8;
  expect_kernel_cost(kernel_cost(p, linear_shard(), Phase::forward, DType::tf32),
                     CostSource::related, 1e-5 + 4e-8 * (64 * 256 + 512 * 256 + 64 * 512));
  p.peaks[static_cast<std::size_t>(DType::tf32)] = p.peaks[0];
  EXPECT_EQ(kernel_cost(p, linear_shard(), Phase::forward, DType::tf32).source,
            CostSource::analytic);
}

TEST(KernelCosts, FarFromEveryRowTheRooflineAnswers) {
  const Profile p = with({products(DType::fp32, {{{1, 8192, 512, 256}, 1}})});
  expect_kernel_cost(kernel_cost(p, linear_shard(), Phase::forward), CostSource::analytic,
                     kernel_cost(toy_profile(), linear_shard(), Phase::forward).seconds.value);
}

TEST(KernelCosts, WhatIsBoundByMemoryTakesAsLongAsAPassOverItsBytes) {
  constexpr Extents kShape = {{1, 100, 1, 10, 10}};
  const Profile p = with({passes({{{2, 10'000}, 1}, {{2, 15'000}, 7}, {{3, 10'000}, 2}})});
  const KernelShard relu = {Activation{}, kShape, {kShape}, {}};
  const KernelShard sum = {Add{}, kShape, {kShape, kShape}, {}};
  expect_kernel_cost(kernel_cost(p, relu, Phase::forward), CostSource::measured, 1e-3);
  expect_kernel_cost(kernel_cost(p, sum, Phase::forward), CostSource::measured, 2e-3);
  // Three passes over 40 kB are as many bytes as two over 15,000 elements.
  expect_kernel_cost(kernel_cost(p, relu, Phase::backward_data), CostSource::related, 7e-3);
}

// A window of one element is a product of its positions; three of them are rows of their own.
KernelShard convolution_shard(std::int64_t kernel) {
  Convolution op;
  op.out_channels = 32;
  op.bias = false;
  op.windows.h = op.windows.w = {kernel, 1, kernel / 2, kernel / 2, 1};
  return {op, {{4, 32, 1, 8, 8}}, {{{4, 16, 1, 8, 8}}}, {32 * 16 * kernel * kernel, 0}};
}

TEST(KernelCosts, ConvolutionsAreRowsOrProducts) {
  KernelTable rows{KernelKind::convolution, DType::fp32, {}, {}, {}, {}, {}, {}, {}};
  rows.parameters = first_parameters(KernelKind::convolution, toy_profile(), DType::fp32);
  rows.rows = {{{4, 16, 32, 3, 8, 1, 1}, 5}, {{4, 32, 16, 3, 8, 1, 1}, 6}};
  const Profile p = with({products(DType::fp32, {{{1, 256, 32, 16}, 4}}), rows});
  expect_kernel_cost(kernel_cost(p, convolution_shard(1), Phase::forward), CostSource::related,
                     4e-3);
  expect_kernel_cost(kernel_cost(p, convolution_shard(3), Phase::forward), CostSource::measured,
                     5e-3);
  expect_kernel_cost(kernel_cost(p, convolution_shard(3), Phase::backward_data),
                     CostSource::related, 6e-3);
  expect_kernel_cost(kernel_cost(p, convolution_shard(3), Phase::backward_weights),
                     CostSource::related, 5e-3);
  EXPECT_EQ(kernel_cost(p, convolution_shard(5), Phase::forward).source, CostSource::analytic);
}

// Of a side of 8 and one of 7, a window of 3 with stride 2 and padding 1 makes 4.
TEST(KernelCosts, AStridedConvolutionFindsItsOwnRow) {
  KernelTable rows{KernelKind::convolution, DType::fp32, {}, {}, {}, {}, {}, {}, {}};
  rows.parameters = first_parameters(KernelKind::convolution, toy_profile(), DType::fp32);
  rows.rows = {{{4, 16, 32, 3, 7, 2, 1}, 5}, {{4, 16, 32, 3, 8, 2, 1}, 6}};
  const Profile p = with({rows});
  KernelShard shard = convolution_shard(3);
  auto& windows = std::get<Convolution>(shard.op).windows;
  windows.h.stride = windows.w.stride = 2;
  shard.output = {{4, 32, 1, 4, 4}};
  expect_kernel_cost(kernel_cost(p, shard, Phase::forward), CostSource::measured, 6e-3);
  shard.inputs = {{{4, 16, 1, 7, 7}}};
  expect_kernel_cost(kernel_cost(p, shard, Phase::forward), CostSource::measured, 5e-3);
}

// Matrix units read channels innermost: of channels outermost, input and output are copied besides.
TEST(KernelCosts, ConvolutionsOfChannelsOutermostAreConverted) {
  const std::shared_ptr<const CostModel> plain = make_cost_model(with({}));
  const auto converting = plain->with({.channels_outermost = true});
  const KernelShard shard = convolution_shard(3);
  const auto cost = [&](const CostModel& model, Phase phase, DType dtype) {
    return model.compute({&shard.op, shard.output, shard.inputs, shard.parameters, dtype}, phase);
  };
  for (Phase phase : {Phase::forward, Phase::backward_data, Phase::backward_weights}) {
    const Cost before = cost(*plain, phase, DType::bf16),
               after = cost(*converting, phase, DType::bf16);
    EXPECT_EQ(after.kernels, before.kernels + 2);
    EXPECT_NEAR((after.seconds - before.seconds).value,
                (plain->move(MoveKind::local, Bytes{2 * 4 * 16 * 64}).seconds +
                 plain->move(MoveKind::local, Bytes{2 * 4 * 32 * 64}).seconds)
                    .value,
                1e-12);
    EXPECT_EQ(cost(*converting, phase, DType::fp32).seconds,
              cost(*plain, phase, DType::fp32).seconds);
  }
  EXPECT_EQ(cost(*converting, Phase::update, DType::bf16).seconds,
            cost(*plain, Phase::update, DType::bf16).seconds);
}

// One sample of 16 heads of 128 features, 1,024 positions.
KernelShard attention_shard(bool causal) {
  Attention op;
  op.head_size = 128;
  op.causal = causal;
  constexpr Extents kShape = {{1, 2048, 1, 1, 1024}};
  return {op, kShape, {kShape, kShape, kShape}, {}};
}

TEST(KernelCosts, AttentionBackwardFollowsFromFiguresOfBothPasses) {
  KernelTable forward{KernelKind::attention, DType::bf16, {}, {}, {}, {}, {}, {}, {}};
  forward.parameters = first_parameters(KernelKind::attention, toy_profile(), DType::bf16);
  // The shape that both passes were measured at: 16 samples of 1,024, 16 heads of 128.
  forward.rows = {{{1, 1024, 16, 16, 128}, 1}, {{16, 1024, 16, 16, 128}, 10}};
  KernelTable both{KernelKind::attention_training, DType::bf16, {}, {}, {}, {}, {0, 1e12}, {}, {}};
  both.rows = {{{16, 1024, 16, 16, 128, 0}, 84}, {{16, 1024, 16, 16, 128, 1}, 42}};
  const Profile p = with({forward, both});
  const auto cost = [&](bool causal, Phase phase) {
    return kernel_cost(p, attention_shard(causal), phase, DType::bf16);
  };
  expect_kernel_cost(cost(true, Phase::forward), CostSource::measured, 1e-3);
  // Five sevenths of 42 ms are three times the forward pass of 10 ms.
  expect_kernel_cost(cost(true, Phase::backward_data), CostSource::related, 3e-3);
  // Without a mask both passes take twice as long.
  expect_kernel_cost(cost(false, Phase::forward), CostSource::related, 2e-3);
  expect_kernel_cost(cost(false, Phase::backward_data), CostSource::related, 6e-3);
}

}  // namespace
}  // namespace strata
