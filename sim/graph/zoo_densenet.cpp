// DenseNet-121 of Huang, Liu, van der Maaten and Weinberger, "Densely connected convolutional
// networks", 2017 (growth rate 32, bottlenecks of 128), with torchvision's layer names. Every layer
// reads the concatenation of all before it in its block.

#include <array>

#include <fmt/format.h>

#include "sim/graph/zoo_net.h"

namespace strata {
namespace {

constexpr std::int64_t kGrowth = 32;
constexpr std::array<int, 4> kDepths = {6, 12, 24, 16};

LayerId dense_layer(Net& net, const std::string& p, LayerId in) {
  LayerId at = net.relu(p + "_relu1", net.add(p + "_norm1", BatchNorm{}, in));
  at = net.conv(p + "_conv1", at, 4 * kGrowth, windows2d(1), false);
  at = net.relu(p + "_relu2", net.add(p + "_norm2", BatchNorm{}, at));
  return net.conv(p + "_conv2", at, kGrowth, windows2d(3, 1, 1), false);
}

LayerId dense_block(Net& net, int number, LayerId at) {
  std::vector<LayerId> parts = {at};
  for (int layer = 1; layer <= kDepths[static_cast<std::size_t>(number - 1)]; ++layer) {
    const std::string p = fmt::format("features_denseblock{}_denselayer{}", number, layer);
    parts.push_back(dense_layer(net, p, at));
    at = net.join(p + "_concat", Concat{}, parts);
  }
  return at;
}

/// Halves the channels and the extents.
LayerId transition(Net& net, int number, LayerId at, std::int64_t channels) {
  const std::string p = fmt::format("features_transition{}", number);
  at = net.relu(p + "_relu", net.add(p + "_norm", BatchNorm{}, at));
  at = net.conv(p + "_conv", at, channels / 2, windows2d(1), false);
  return net.average_pool(p + "_pool", at, windows2d(2, 2));
}

}  // namespace

Graph build_densenet121(std::string_view name, std::int64_t batch) {
  Net net(name, batch);
  LayerId at = net.input(3, 224, 224);
  at = net.conv("features_conv0", at, 64, windows2d(7, 2, 3), false);
  at = net.relu("features_relu0", net.add("features_norm0", BatchNorm{}, at));
  at = net.max_pool("features_pool0", at, windows2d(3, 2, 1));
  std::int64_t channels = 64;
  for (int number = 1; number <= 4; ++number) {
    at = dense_block(net, number, at);
    channels += kGrowth * kDepths[static_cast<std::size_t>(number - 1)];
    if (number < 4) at = transition(net, number, at, channels);
    channels /= 2;
  }
  at = net.relu("relu", net.add("features_norm5", BatchNorm{}, at));
  at = net.add("flatten", Flatten{}, net.average_to("avgpool", at, 1));
  at = net.fc("classifier", at, 1000);
  return std::move(net).with_loss(at);
}

}  // namespace strata
