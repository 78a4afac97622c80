#include "tests/exec/zoo/small_network.h"

#include <algorithm>
#include <string>
#include <utility>
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

constexpr Window kThree{.kernel = 3, .pad_begin = 1, .pad_end = 1};

/// Two blocks as MobileNet-v3 and EfficientNet have them, each scaled by a gate of its own means.
Graph gated(std::int64_t batch) {
  GraphBuilder net("gated", batch);
  const auto convolve = [&](const std::string& name, LayerId from, std::int64_t channels,
                            Windows windows = {}, std::int64_t groups = 1) {
    return net.add(name, Convolution{2, channels, windows, groups, true}, {from});
  };
  LayerId at = net.add("data", Input{{{1, 3, 1, 24, 24}}}, {});
  at = convolve("stem", at, 12, {{}, kThree, kThree});
  for (const auto& [block, kind] : {std::pair{"one", ActivationKind::sigmoid},
                                    std::pair{"two", ActivationKind::hard_sigmoid}}) {
    const std::string name = block;
    LayerId wide = convolve(name + "_depthwise", at, 12, {{}, kThree, kThree}, 12);
    wide = net.add(name + "_norm", BatchNorm{}, {wide});
    wide = net.add(name + "_silu", Activation{ActivationKind::silu}, {wide});
    LayerId gate = net.add(name + "_mean", AdaptivePooling{2, PoolMode::average}, {wide});
    gate = net.add(name + "_relu", Activation{}, {convolve(name + "_squeeze", gate, 6)});
    gate = net.add(name + "_gate", Activation{kind}, {convolve(name + "_excite", gate, 12)});
    wide = net.add(name + "_gated", Multiply{}, {wide, gate});
    at = net.add(name + "_sum", Add{}, {convolve(name + "_project", wide, 12), at});
  }
  at = net.add("mean", AdaptivePooling{2, PoolMode::average}, {at});
  at = net.add("fc", FullyConnected{10, true}, {at});
  net.add("loss", SoftmaxCrossEntropy{}, {at});
  return std::move(net).build();
}

/// A block as ConvNeXt has them, and layer norms of features, with and without a scale.
Graph normed(std::int64_t batch) {
  GraphBuilder net("normed", batch);
  const auto convolve = [&](const std::string& name, LayerId from, std::int64_t channels,
                            Windows windows = {}, std::int64_t groups = 1) {
    return net.add(name, Convolution{2, channels, windows, groups, true}, {from});
  };
  const LayerId data = net.add("data", Input{{{1, 3, 1, 12, 12}}}, {});
  const LayerId stem =
      net.add("stem_norm", LayerNorm{}, {convolve("stem", data, 20, {{}, kThree, kThree})});
  LayerId at = convolve("depthwise", stem, 20, {{}, kThree, kThree}, 20);
  at = net.add("norm", LayerNorm{.epsilon = 1e-3}, {at});
  at = net.add("gelu", Activation{ActivationKind::gelu}, {convolve("widen", at, 40)});
  at = net.add("sum", Add{}, {convolve("narrow", at, 20), stem});
  at = net.add("mean", AdaptivePooling{2, PoolMode::average}, {at});
  at = net.add("mean_norm", LayerNorm{.affine = false}, {at});
  at = net.add("hidden", FullyConnected{24, true}, {at});
  at = net.add("fc", FullyConnected{10, true}, {net.add("hidden_norm", LayerNorm{}, {at})});
  net.add("loss", SoftmaxCrossEntropy{}, {at});
  return std::move(net).build();
}

Graph whole_network(const SmallNetwork& network) {
  if (network.name == "gated") return gated(network.batch);
  if (network.name == "normed") return normed(network.batch);
  return build_zoo(network.name, network.batch);
}

}  // namespace

Graph build(const SmallNetwork& network) {
  const Graph whole = whole_network(network);
  GraphBuilder builder(whole.name(), network.batch);
  for (const Layer& layer : whole.layers()) {
    builder.add(layer.name, smaller(layer.op, network), layer.inputs);
  }
  return std::move(builder).build();
}

}  // namespace strata::testing
