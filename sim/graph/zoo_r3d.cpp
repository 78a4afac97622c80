// The 18-layer 3-D ResNet ("R3D") of Tran et al., "A closer look at spatiotemporal convolutions
// for action recognition", 2018: 16 frames of 112 x 112, 400 classes; torchvision's layer names.

#include <fmt/format.h>

#include "sim/graph/zoo_net.h"

namespace strata {
namespace {

Windows cube(std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  const Window window = {kernel, stride, padding, padding, 1};
  return {window, window, window};
}

LayerId conv_bn(Net& net, const std::string& prefix, LayerId from, std::int64_t channels,
                const Windows& windows) {
  const LayerId conv = net.add(prefix + "_0", Convolution{3, channels, windows, 1, false}, from);
  return net.add(prefix + "_1", BatchNorm{}, conv);
}

LayerId residual_block(Net& net, const std::string& p, LayerId in, std::int64_t width,
                       std::int64_t stride) {
  LayerId at = conv_bn(net, p + "_conv1", in, width, cube(3, stride, 1));
  at = net.relu(p + "_conv1_2", at);
  at = conv_bn(net, p + "_conv2", at, width, cube(3, 1, 1));
  const LayerId identity =
      stride == 1 ? in : conv_bn(net, p + "_downsample", in, width, cube(1, stride, 0));
  return net.relu(p + "_relu", net.join(p + "_add", Add{}, {at, identity}));
}

}  // namespace

Graph build_r3d_18(std::string_view name, std::int64_t batch) {
  Net net(name, batch);
  LayerId at = net.input3d(3, 16, 112, 112);
  const Windows stem = {{3, 1, 1, 1, 1}, {7, 2, 3, 3, 1}, {7, 2, 3, 3, 1}};
  at = net.relu("stem_2", conv_bn(net, "stem", at, 64, stem));
  for (int stage = 1; stage <= 4; ++stage) {
    const std::int64_t width = std::int64_t{64} << (stage - 1);
    at = residual_block(net, fmt::format("layer{}_0", stage), at, width, stage == 1 ? 1 : 2);
    at = residual_block(net, fmt::format("layer{}_1", stage), at, width, 1);
  }
  at = net.add("avgpool", AdaptivePooling{3, PoolMode::average, 1, 1, 1}, at);
  at = net.add("flatten", Flatten{}, at);
  at = net.fc("fc", at, 400);
  return std::move(net).with_loss(at);
}

}  // namespace strata
