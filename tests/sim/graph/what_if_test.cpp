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

std::string refusal(std::string_view selector, std::string_view value) {
  try {
    with_layer_speed(build_zoo("lenet5", 1), selector, parse_layer_speed(value));
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

TEST(LayerSpeed, IsSetByNameByOpOrForAll) {
  const Graph lenet = build_zoo("lenet5", 8);
  EXPECT_EQ(layers_of_speed(lenet, 1), lenet.size());
  EXPECT_EQ(layers_of_speed(with_layer_speed(lenet, "conv1", parse_layer_speed("2x")), 2), 1U);
  EXPECT_EQ(layers_of_speed(with_layer_speed(lenet, "conv2d", parse_layer_speed("0.5")), 0.5), 2U);
  EXPECT_EQ(layers_of_speed(with_layer_speed(lenet, "*", parse_layer_speed("3")), 3), lenet.size());
}

TEST(LayerSpeed, OutlivesAnotherBatchAndLeavesTheRest) {
  const Graph lenet = build_zoo("lenet5", 8);
  const Graph fast = with_layer_speed(lenet, "conv1", 2).with_batch(16);
  EXPECT_EQ(layers_of_speed(fast, 2), 1U);
  EXPECT_EQ(fast.with_speeds(std::vector<double>(fast.size(), 1)), lenet.with_batch(16));
}

TEST(LayerSpeed, RefusesWhatIsNotThere) {
  EXPECT_TRUE(refusal("conv9", "2x").starts_with("lenet5 has no layer 'conv9'"));
  EXPECT_TRUE(refusal("conv1", "-1").starts_with("'-1' is not a layer's speed"));
  EXPECT_TRUE(refusal("conv1", "fast").starts_with("'fast' is not a layer's speed"));
}

}  // namespace
}  // namespace strata
