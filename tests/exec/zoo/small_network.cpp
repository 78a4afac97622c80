#include "tests/exec/zoo/small_network.h"

#include <algorithm>
#include <variant>

#include "sim/graph/zoo.h"

namespace strata::testing {
namespace {

constexpr std::int64_t kFeatures = 64;

bool is_rectifier(const Op& op) {
  const auto* activation = std::get_if<Activation>(&op);
  return activation != nullptr &&
         (activation->kind == ActivationKind::relu || activation->kind == ActivationKind::relu6);
}

// A depthwise convolution stays one: its groups shrink as its channels do.
Op smaller(Op op, const SmallNetwork& network) {
  const auto narrow = [&](std::int64_t channels) {
    return (channels + network.narrowing - 1) / network.narrowing;
  };
  if (auto* input = std::get_if<Input>(&op); input != nullptr && network.image != 0) {
    input->extents[Dim::h] = input->extents[Dim::w] = network.image;
  } else if (auto* conv = std::get_if<Convolution>(&op)) {
    conv->out_channels = narrow(conv->out_channels);
    conv->groups = narrow(conv->groups);
  } else if (auto* fc = std::get_if<FullyConnected>(&op)) {
    fc->out_features = std::min(fc->out_features, kFeatures);
  } else if (network.smooth && is_rectifier(op)) {
    op = Activation{ActivationKind::elu, 1};
  } else if (auto* pool = std::get_if<Pooling>(&op); pool != nullptr && network.smooth) {
    pool->mode = PoolMode::average;
  }
  return op;
}

}  // namespace

Graph build(const SmallNetwork& network) {
  const Graph whole = build_zoo(network.name, network.batch);
  GraphBuilder builder(whole.name(), network.batch);
  for (const Layer& layer : whole.layers()) {
    builder.add(layer.name, smaller(layer.op, network), layer.inputs);
  }
  return std::move(builder).build();
}

}  // namespace strata::testing
