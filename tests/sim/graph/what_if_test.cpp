#include "sim/graph/what_if.h"

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/graph/zoo.h"

namespace strata {
namespace {

std::size_t layers_of_speed(const Graph& graph, double speed) {
  std::size_t count = 0;
  for (const Layer& layer : graph.layers()) count += layer.speed == speed;
  return count;
}

std::string refusal(std::string_view key, std::string_view value) {
  try {
    apply(build_zoo("lenet5", 1), key, value);
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

TEST(LayerSpeed, IsSetByNameByOpOrForAll) {
  const Graph lenet = build_zoo("lenet5", 8);
  EXPECT_EQ(layers_of_speed(lenet, 1), lenet.size());
  EXPECT_EQ(layers_of_speed(apply(lenet, "layer.conv1.speed", "2x"), 2), 1U);
  EXPECT_EQ(layers_of_speed(apply(lenet, "layer.conv2d.speed", "0.5"), 0.5), 2U);
  EXPECT_EQ(layers_of_speed(apply(lenet, "layer.*.speed", "3"), 3), lenet.size());
}

TEST(LayerSpeed, OutlivesAnotherBatchAndLeavesTheRest) {
  const Graph lenet = build_zoo("lenet5", 8);
  const Graph fast = with_layer_speed(lenet, "conv1", 2).with_batch(16);
  EXPECT_EQ(layers_of_speed(fast, 2), 1U);
  EXPECT_EQ(fast.with_speeds(std::vector<double>(fast.size(), 1)), lenet.with_batch(16));
}

TEST(LayerSpeed, RefusesWhatIsNotThere) {
  EXPECT_TRUE(refusal("layer.conv9.speed", "2x").starts_with("lenet5 has no layer 'conv9'"));
  EXPECT_TRUE(refusal("layer.conv1.speed", "-1").starts_with("'-1' is not a layer's speed"));
  EXPECT_TRUE(refusal("layer.conv1.speed", "fast").starts_with("'fast' is not a layer's speed"));
  EXPECT_EQ(refusal("layer.speed", "2"),
            "unknown key 'layer.speed'; allowed: layer.SELECTOR.speed");
}

}  // namespace
}  // namespace strata
