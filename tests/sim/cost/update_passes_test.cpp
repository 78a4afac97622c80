// What surrounds an update, and what turns queries and keys, in passes over memory.

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/cost/work.h"
#include "sim/profile/profile.h"

namespace strata {
namespace {

// 10 parameters in bf16 with gradients in fp32: a parameter twice, a gradient, and the master and
// two words of Adam's twice each.
constexpr std::int64_t kUpdate = 2 * 2 + 4 + 2 * 12;

PhaseWork update_of(const KernelTraits& kernels, Optimizer optimizer = Optimizer::adam) {
  const Op op = Linear{.out_features = 2};
  const Extents tensor{{1, 4, 1, 1, 1}};
  const std::array<Extents, 1> inputs = {tensor};
  DTypes types{DType::bf16, DType::bf16};
  types.gradients = DType::fp32;
  return phase_work({&op, tensor, inputs, {8, 2}, types, optimizer}, Phase::update, kernels);
}

TEST(UpdatePasses, OverGradientsAreAdded) {
  EXPECT_EQ(update_of({}).bytes, Bytes{10 * kUpdate});
  EXPECT_EQ(update_of({.clips_gradients = true}).bytes, Bytes{10 * (kUpdate + 3 * 4)});
  EXPECT_EQ(update_of({.zeroes_gradients = true}).bytes, Bytes{10 * (kUpdate + 4)});
  EXPECT_EQ(update_of({.unscales_gradients = true}).bytes, Bytes{10 * (kUpdate + 2 * 4)});
  EXPECT_EQ(update_of({}).kernels, 1);
  EXPECT_EQ(update_of({.clips_gradients = true, .zeroes_gradients = true}).kernels, 4);
}

// Three times as long as one kernel; a loop launches nine kernels for weight and for bias.
TEST(UpdatePasses, OfAnOperationAtATimeAreMore) {
  EXPECT_EQ(update_of({.update = UpdateKernel::foreach}).bytes, Bytes{3 * 10 * kUpdate});
  EXPECT_EQ(update_of({.update = UpdateKernel::foreach}).kernels, 9);
  EXPECT_EQ(update_of({.update = UpdateKernel::for_loop}).kernels, 18);
  EXPECT_EQ(update_of({.update = UpdateKernel::foreach}, Optimizer::sgd).bytes,
            update_of({}, Optimizer::sgd).bytes);
}

Cost attention_cost(double rotary, RotaryKernel kernel, Phase phase) {
  Profile profile = load_profile("a100");
  profile.tables.clear();
  KernelTraits kernels;
  kernels.rotary = kernel;
  Attention attention;
  attention.head_size = 64;
  attention.causal = true;
  attention.rotary = rotary;
  const Op op = attention;
  const Extents queries{{2, 1024, 1, 1, 2048}}, keys{{2, 256, 1, 1, 2048}};
  const std::vector<Extents> inputs = {queries, keys, keys};
  return make_cost_model(profile)->with(kernels)->compute({&op, queries, inputs, {}, DType::bf16},
                                                          phase);
}

// Of 2 x 1,280 x 2,048 elements of two bytes, besides a launch of each.
TEST(RotaryKernels, PassOverQueriesAndKeys) {
  const Profile profile = load_profile("a100");
  const double launch = profile.efficiency.launch.value.value;
  const double pass =
      2.0 * 1280 * 2048 * 2 / (profile.bandwidth.value.value * profile.efficiency.memory.value);
  const auto added = [&](RotaryKernel kernel, Phase phase) {
    const Cost within = attention_cost(1e4, RotaryKernel::within, phase);
    EXPECT_EQ(within.seconds, attention_cost(0, kernel, phase).seconds);
    return (attention_cost(1e4, kernel, phase).seconds - within.seconds).value - launch;
  };
  EXPECT_NEAR(added(RotaryKernel::fused, Phase::forward), 2 * pass, 1e-3 * pass);
  EXPECT_NEAR(added(RotaryKernel::fused, Phase::backward_data), 2 * pass, 1e-3 * pass);
  EXPECT_NEAR(added(RotaryKernel::eager, Phase::forward), 20.4 * pass, 1e-3 * pass);
  EXPECT_NEAR(added(RotaryKernel::eager, Phase::backward_data), 24.3 * pass, 1e-3 * pass);
  const Cost eager = attention_cost(1e4, RotaryKernel::eager, Phase::forward);
  EXPECT_EQ(eager.kernels, attention_cost(0, RotaryKernel::eager, Phase::forward).kernels + 10);
}

}  // namespace
}  // namespace strata
