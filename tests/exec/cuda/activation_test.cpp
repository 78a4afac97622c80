// Activations where the output does not tell the input's sign, and what is no number.

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/exec/cuda/harness.h"
#include "tests/exec/cuda/host_device.h"

namespace strata::cuda {
namespace {

class FoldedActivations : public testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(Precision, FoldedActivations,
                         testing::Values(Precision::fp32, Precision::bf16),
                         testing::PrintToStringParamName());

// A negative slope folds the signs together: the output does not tell the gradient.
TEST_P(FoldedActivations, TakeTheirGradientFromTheirInput) {
  HostGpus site(GetParam());
  for (const ActivationKind kind : {ActivationKind::leaky_relu, ActivationKind::elu}) {
    each_seed(20, [&](Random& random) {
      host::draw_orders_from(random());
      const Extents extents = {{pick(random, 1, 3), pick(random, 1, 20), 1, pick(random, 1, 4), 3}};
      const Activation op{kind, -0.1 * static_cast<double>(pick(random, 1, 15))};
      const DrawnLayer drawn(site, extents, op, random);
      expect_as_reference(site, drawn, {draw_degrees(extents, random), false});
    });
  }
}

// A step that went wrong must show in its loss.
TEST(Activations, PassOnWhatIsNoNumber) {
  HostGpus site(Precision::fp32);
  Random random(1);
  for (const char* name : {"relu", "relu6", "leaky_relu", "elu", "sigmoid", "tanh", "silu", "gelu",
                           "hard_swish", "hard_sigmoid", "squared_relu", "softcap", "scale"}) {
    DrawnOp drawn(site, {name}, random);
    drawn.inputs[0][0] = std::numeric_limits<double>::quiet_NaN();
    const reference::LayerCall call = drawn.call();
    EXPECT_TRUE(std::isnan(shards::LayerOnShards(site, call, {}).forward()[0])) << name;
  }
}

}  // namespace
}  // namespace strata::cuda
