#include "sim/cost/roofline.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/sim/cost/toy_profile.h"

namespace strata {
namespace {

struct TimedShard {
  Op op;
  Extents output;
  std::vector<Extents> inputs;
  Parameters parameters;
  DType dtype = DType::fp32;

  PhaseWork work(Phase phase) const {
    return phase_work({&op, output, inputs, parameters, dtype}, phase);
  }
  double microseconds(Phase phase, const Profile& profile = toy_profile()) const {
    return 1e6 * make_cost_model(profile)
                     ->compute({&op, output, inputs, parameters, dtype}, phase)
                     .seconds.value;
  }
};

constexpr Extents kMillion = {{10, 100, 1, 10, 100}};

TimedShard elementwise(Op op) {
  return {std::move(op), kMillion, {kMillion}, {}};
}

TimedShard convolution(std::int64_t kernel, std::int64_t stride, Extents output, Extents input,
                       std::int64_t groups = 1) {
  Convolution op;
  op.out_channels = output[Dim::c];
  op.groups = groups;
  op.bias = false;
  op.windows.h = op.windows.w = {kernel, stride, 0, 0, 1};
  const std::int64_t weight = output[Dim::c] * input[Dim::c] / groups * kernel * kernel;
  return {op, output, {input}, {weight, 0}};
}

// 10 us of launch, and every pass over 4 MB at 50 GB/s is 80 us.
TEST(Roofline, OpsWithoutProductsCostTheirPasses) {
  const TimedShard relu = elementwise(Activation{});
  EXPECT_DOUBLE_EQ(relu.microseconds(Phase::forward), 10 + 2 * 80);
  EXPECT_DOUBLE_EQ(relu.microseconds(Phase::backward_data), 10 + 3 * 80);
  EXPECT_DOUBLE_EQ(relu.microseconds(Phase::backward_weights), 0);
  EXPECT_DOUBLE_EQ(relu.microseconds(Phase::update), 0);

  TimedShard norm = elementwise(BatchNorm{});
  norm.parameters = {100, 100};
  EXPECT_DOUBLE_EQ(norm.microseconds(Phase::forward_statistics), 10 + 80);
  EXPECT_DOUBLE_EQ(norm.microseconds(Phase::forward), 10 + 2 * 80);
  EXPECT_DOUBLE_EQ(norm.microseconds(Phase::backward_statistics), 10 + 2 * 80);
  EXPECT_DOUBLE_EQ(norm.microseconds(Phase::backward_data), 10 + 3 * 80);
  EXPECT_DOUBLE_EQ(norm.microseconds(Phase::backward_weights), 0);     // its sums are the gradient
  EXPECT_DOUBLE_EQ(norm.microseconds(Phase::update), 10 + 3 * 0.016);  // 800 bytes

  TimedShard layer_norm = elementwise(LayerNorm{});
  layer_norm.parameters = {100, 100};
  EXPECT_DOUBLE_EQ(layer_norm.microseconds(Phase::forward_statistics), 10 + 80);
  EXPECT_DOUBLE_EQ(layer_norm.microseconds(Phase::forward), 10 + 2 * 80);
  EXPECT_DOUBLE_EQ(layer_norm.microseconds(Phase::backward_statistics), 10 + 2 * 80);
  EXPECT_DOUBLE_EQ(layer_norm.microseconds(Phase::backward_data), 10 + 3 * 80);
  EXPECT_DOUBLE_EQ(layer_norm.microseconds(Phase::backward_weights), 10 + 2 * 80);
  const TimedShard plain_norm = elementwise(LayerNorm{.affine = false});
  EXPECT_DOUBLE_EQ(plain_norm.microseconds(Phase::backward_weights), 0);

  TimedShard opaque = elementwise(Opaque{"Einsum", {{1, 100, 1, 10, 100}}});
  opaque.parameters = {1'000'000, 0};
  EXPECT_DOUBLE_EQ(opaque.microseconds(Phase::forward), 10 + 3 * 80);           // x w y
  EXPECT_DOUBLE_EQ(opaque.microseconds(Phase::backward_data), 10 + 4 * 80);     // x w dy dx
  EXPECT_DOUBLE_EQ(opaque.microseconds(Phase::backward_weights), 10 + 3 * 80);  // x dy dw

  EXPECT_DOUBLE_EQ(elementwise(LocalResponseNorm{}).microseconds(Phase::backward_data), 330);
  EXPECT_DOUBLE_EQ(elementwise(Concat{}).microseconds(Phase::forward), 170);
  EXPECT_DOUBLE_EQ(elementwise(Dropout{}).microseconds(Phase::forward), 10 + 160 + 20);  // mask
  EXPECT_DOUBLE_EQ(elementwise(SoftmaxCrossEntropy{}).microseconds(Phase::forward_statistics), 90);
  TimedShard add = elementwise(Add{});
  add.inputs.push_back(kMillion);
  EXPECT_DOUBLE_EQ(add.microseconds(Phase::forward), 10 + 3 * 80);
  EXPECT_DOUBLE_EQ(add.microseconds(Phase::backward_data), 10 + 3 * 80);
  TimedShard product = elementwise(Multiply{});
  product.inputs.push_back(kMillion);
  EXPECT_DOUBLE_EQ(product.microseconds(Phase::forward), 10 + 3 * 80);        // a b y
  EXPECT_DOUBLE_EQ(product.microseconds(Phase::backward_data), 10 + 5 * 80);  // a b dy da db
  product.inputs[1] = {{10, 100, 1, 1, 1}};                                   // 4000 bytes
  EXPECT_DOUBLE_EQ(product.microseconds(Phase::forward), 10 + 2 * 80 + 0.08);
  EXPECT_DOUBLE_EQ(product.microseconds(Phase::backward_data), 10 + 3 * 80 + 0.16);
}

// 10,000 rows of 100 columns, each a sum of 50 terms, and as much again for the gradient of each of
// its factors; not for nothing, as its bytes alone would have it.
TEST(Roofline, AnOpaqueProductHasTheArithmeticOfItsShapes) {
  Opaque op{"MatMul", {{1, 100, 1, 10, 100}}};
  TimedShard bytes = elementwise(op);
  op.macs = 50, op.columns = 100;
  TimedShard product = elementwise(op);
  EXPECT_EQ(product.work(Phase::forward).direct, (Gemm{1, 10'000, 100, 50}));
  EXPECT_EQ(product.work(Phase::backward_data).direct, (Gemm{2, 10'000, 50, 100}));
  product.parameters = bytes.parameters = {5'000, 0};
  EXPECT_EQ(product.work(Phase::backward_data).direct, (Gemm{1, 10'000, 50, 100}));
  EXPECT_EQ(product.work(Phase::backward_weights).direct, (Gemm{1, 50, 100, 10'000}));
  EXPECT_EQ(product.work(Phase::forward).bytes, bytes.work(Phase::forward).bytes);
  EXPECT_FALSE(product.work(Phase::update).direct.count);
  for (std::int64_t macs : {50'000, 500'000}) {
    std::get<Opaque>(product.op).macs = macs;
    EXPECT_GT(product.microseconds(Phase::forward), 2 * bytes.microseconds(Phase::forward));
  }
}

TEST(Roofline, FlattenAndInputsAreFree) {
  for (int phase = 0; phase < kKernelPhases; ++phase) {
    EXPECT_EQ(elementwise(Flatten{}).microseconds(static_cast<Phase>(phase)), 0);
    EXPECT_EQ(elementwise(Input{}).microseconds(static_cast<Phase>(phase)), 0);
  }
}

// Input 4e6 elements, output 1e6: 16 MB and 4 MB. A maximum's gradient also looks x and y up.
TEST(Roofline, PoolingReadsItsInputAndWritesItsOutput) {
  Pooling op;
  op.windows.h = op.windows.w = {2, 2, 0, 0, 1};
  TimedShard pool{op, kMillion, {{{10, 100, 1, 20, 200}}}, {}};
  EXPECT_DOUBLE_EQ(pool.microseconds(Phase::forward), 10 + 400);
  EXPECT_DOUBLE_EQ(pool.microseconds(Phase::backward_data), 10 + 800);
  std::get<Pooling>(pool.op).mode = PoolMode::average;
  EXPECT_DOUBLE_EQ(pool.microseconds(Phase::backward_data), 10 + 400);
}

// 200 x 1000 times 1000 x 100: two tiles of 2e4 x 1000 operations each, and a tail of 10 cores
// with 200 deep each, 4e7 operations as well; 8e7 at half of 1e12 a second are 160 us. The bytes,
// 4 x (200,000 + 20,000 + 100,000), take 25.6 us only.
TEST(Roofline, AProductPaysForItsTilesAndATail) {
  const TimedShard fc{
      FullyConnected{100, false}, {{200, 100, 1, 1, 1}}, {{{200, 1000, 1, 1, 1}}}, {100'000, 0}};
  EXPECT_EQ(fc.work(Phase::forward).direct, (Gemm{1, 200, 100, 1000}));
  EXPECT_EQ(fc.work(Phase::backward_data).direct, (Gemm{1, 200, 1000, 100}));
  EXPECT_EQ(fc.work(Phase::backward_weights).direct, (Gemm{1, 100, 1000, 200}));
  EXPECT_DOUBLE_EQ(fc.microseconds(Phase::forward), 10 + 160);
  // Gradients: 20 tiles of 100 deep and as deep a tail of 10: 6e7. 10 tiles of 200 and 10 more.
  EXPECT_DOUBLE_EQ(fc.microseconds(Phase::backward_data), 10 + 120);
  EXPECT_DOUBLE_EQ(fc.microseconds(Phase::backward_weights), 10 + 160);
  EXPECT_DOUBLE_EQ(fc.microseconds(Phase::update), 10 + 3 * 8);
}

// The output is 200 x 100 in tiles: with a half extent of 100 the rows run at 2/3, the columns at
// 1/2; with a half depth of 1000, at another half. The tail stays what it is: 80 us.
TEST(Roofline, SmallProductsAreLessEfficient) {
  const TimedShard fc{
      FullyConnected{100, false}, {{200, 100, 1, 1, 1}}, {{{200, 1000, 1, 1, 1}}}, {100'000, 0}};
  Profile p = toy_profile();
  p.efficiency.half_tile.value = 100;
  EXPECT_DOUBLE_EQ(fc.microseconds(Phase::forward, p), 10 + 80 * 3 + 80);
  p.efficiency.half_depth.value = 1000;
  EXPECT_DOUBLE_EQ(fc.microseconds(Phase::forward, p), 10 + 80 * 3 * 2 + 80);
}

// One row and 100 rows are one tile.
TEST(Roofline, PartOfATileCostsTheTile) {
  const TimedShard one{
      FullyConnected{100, false}, {{1, 100, 1, 1, 1}}, {{{1, 1000, 1, 1, 1}}}, {100'000, 0}};
  EXPECT_DOUBLE_EQ(one.microseconds(Phase::forward), 10 + 120);
}

// 3x3 at stride 1, 20 channels to 100, 40x50 outputs of 1 sample. Directly: 20 tiles of 180 deep
// and a tail of 10: 20,000 x 30 x 180 = 1.08e8 operations, 216 us. Winograd: 16 products of 500 x
// 100 by 20 deep: 80 tiles and a tail of 10, 20,000 x 90 x 20 = 3.6e7, 72 us. With none of its
// saving left, it takes 2.25 times that, 162 us; with half of it left, over 1.625: 99.7 us.
TEST(Roofline, WinogradMultipliesLess) {
  const TimedShard conv = convolution(3, 1, {{1, 100, 1, 40, 50}}, {{1, 20, 1, 42, 52}});
  const PhaseWork work = conv.work(Phase::forward);
  EXPECT_EQ(work.direct, (Gemm{1, 2000, 100, 180}));
  EXPECT_EQ(work.winograd, (Gemm{16, 500, 100, 20}));
  EXPECT_DOUBLE_EQ(work.winograd_gain, 2.25);
  EXPECT_DOUBLE_EQ(conv.microseconds(Phase::forward), 10 + 72);
  Profile p = toy_profile();
  p.efficiency.winograd.value = 0;
  EXPECT_DOUBLE_EQ(conv.microseconds(Phase::forward, p), 10 + 162);
  p.efficiency.winograd.value = 0.5;
  EXPECT_DOUBLE_EQ(conv.microseconds(Phase::forward, p), 10 + 162 / 1.625);
}

TEST(Roofline, WinogradIsForDenseSquareKernelsOfThreeAndFive) {
  const auto count = [](const TimedShard& s) { return s.work(Phase::forward).winograd.count; };
  EXPECT_EQ(count(convolution(5, 1, {{1, 8, 1, 8, 8}}, {{1, 8, 1, 12, 12}})), 36);
  EXPECT_EQ(count(convolution(1, 1, {{1, 8, 1, 8, 8}}, {{1, 8, 1, 8, 8}})), 0);
  EXPECT_EQ(count(convolution(3, 2, {{1, 8, 1, 4, 4}}, {{1, 8, 1, 9, 9}})), 0);
  EXPECT_EQ(count(convolution(3, 1, {{1, 8, 1, 8, 8}}, {{1, 8, 1, 10, 10}}, 2)), 0);
  TimedShard dilated = convolution(3, 1, {{1, 8, 1, 8, 8}}, {{1, 8, 1, 12, 10}});
  std::get<Convolution>(dilated.op).windows.h.dilation = 2;
  EXPECT_EQ(count(dilated), 0);
}

// The gradient of a strided convolution's input multiplies as much as the forward pass.
TEST(Roofline, AStridesZerosAreNotMultiplied) {
  const TimedShard conv = convolution(2, 2, {{1, 16, 1, 10, 10}}, {{1, 8, 1, 20, 20}});
  EXPECT_EQ(conv.work(Phase::forward).direct, (Gemm{1, 100, 16, 32}));
  EXPECT_EQ(conv.work(Phase::backward_data).direct, (Gemm{1, 400, 8, 16}));
  EXPECT_EQ(conv.work(Phase::backward_weights).direct, (Gemm{1, 16, 32, 100}));
}

// Depthwise: 100 products with one column each would waste their tiles; the direct kernel's 1.8e6
// x 100 operations at a tenth of the peak are 1.8 ms. Cut in c, a shard has its part of the groups.
TEST(Roofline, GroupedConvolutionsAreComputedDirectly) {
  const TimedShard depthwise =
      convolution(3, 1, {{10, 100, 1, 100, 100}}, {{10, 100, 1, 102, 102}}, 100);
  EXPECT_EQ(depthwise.work(Phase::forward).direct, (Gemm{100, 100'000, 1, 9}));
  EXPECT_DOUBLE_EQ(depthwise.microseconds(Phase::forward), 10 + 1800);
  TimedShard quarter = depthwise;
  quarter.output[Dim::c] = quarter.inputs[0][Dim::c] = 25;
  quarter.parameters.weight = 225;
  EXPECT_EQ(quarter.work(Phase::forward).direct, (Gemm{25, 100'000, 1, 9}));
}

TEST(Roofline, AKindWithoutATypeComputesInFp32AndMovesLess) {
  TimedShard fc{
      FullyConnected{100, false}, {{200, 100, 1, 1, 1}}, {{{200, 1000, 1, 1, 1}}}, {100'000, 0}};
  fc.dtype = DType::bf16;
  EXPECT_DOUBLE_EQ(fc.microseconds(Phase::forward), 10 + 160);
  EXPECT_DOUBLE_EQ(fc.microseconds(Phase::update), 10 + 3 * 4);
  Profile p = toy_profile();
  p.peaks[static_cast<std::size_t>(DType::bf16)] = Sourced<FlopsPerSecond>{{8e12}, ""};
  EXPECT_DOUBLE_EQ(fc.microseconds(Phase::forward, p), 10 + 20);
}

TEST(Roofline, TensorCoresDoNotUseWinograd) {
  TimedShard conv = convolution(3, 1, {{1, 100, 1, 40, 50}}, {{1, 20, 1, 42, 52}});
  conv.dtype = DType::tf32;
  EXPECT_DOUBLE_EQ(conv.microseconds(Phase::forward), 10 + 72);  // no such peak: fp32's kernels
  Profile p = toy_profile();
  p.peaks[static_cast<std::size_t>(DType::tf32)] = Sourced<FlopsPerSecond>{{2e12}, ""};
  EXPECT_DOUBLE_EQ(conv.microseconds(Phase::forward, p), 10 + 108);
}

TEST(Roofline, AnEmptyShardIsFree) {
  TimedShard relu = elementwise(Activation{});
  relu.output[Dim::n] = relu.inputs[0][Dim::n] = 0;
  EXPECT_EQ(relu.microseconds(Phase::forward), 0);
}

// An output that lies in the padding alone has no input: the forward pass writes zeros.
TEST(Roofline, AShardInsideThePaddingIsCosted) {
  TimedShard conv = convolution(3, 1, {{1, 8, 1, 1, 4}}, {{1, 8, 1, 3, 6}});
  conv.inputs[0] = {};
  EXPECT_DOUBLE_EQ(conv.microseconds(Phase::backward_data), 10 + (32 + 576) * 4e6 / 50e9);
}

}  // namespace
}  // namespace strata
