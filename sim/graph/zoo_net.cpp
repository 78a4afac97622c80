#include "sim/graph/zoo_net.h"

#include <utility>

namespace strata {

Windows windows2d(Pair kernel, Pair stride, Pair padding) {
  Windows windows;
  windows.h = {kernel.h, stride.h, padding.h, padding.h, 1};
  windows.w = {kernel.w, stride.w, padding.w, padding.w, 1};
  return windows;
}

LayerId Net::input(std::int64_t channels, std::int64_t height, std::int64_t width) {
  return input3d(channels, 1, height, width);
}

LayerId Net::input3d(std::int64_t channels, std::int64_t depth, std::int64_t height,
                     std::int64_t width) {
  return builder_.add("input", Input{{{1, channels, depth, height, width}}}, {});
}

LayerId Net::add(std::string layer, Op op, LayerId from) {
  return builder_.add(std::move(layer), std::move(op), {from});
}

LayerId Net::join(std::string layer, Op op, std::vector<LayerId> from) {
  return builder_.add(std::move(layer), std::move(op), std::move(from));
}

LayerId Net::conv(std::string layer, LayerId from, std::int64_t channels, const Windows& windows,
                  bool bias, std::int64_t groups) {
  return add(std::move(layer), Convolution{2, channels, windows, groups, bias}, from);
}

LayerId Net::max_pool(std::string layer, LayerId from, const Windows& windows, bool ceil_mode) {
  return add(std::move(layer), Pooling{2, PoolMode::max, windows, ceil_mode, true}, from);
}

LayerId Net::average_pool(std::string layer, LayerId from, const Windows& windows) {
  return add(std::move(layer), Pooling{2, PoolMode::average, windows, false, true}, from);
}

LayerId Net::average_to(std::string layer, LayerId from, Pair outputs) {
  return add(std::move(layer), AdaptivePooling{2, PoolMode::average, 1, outputs.h, outputs.w},
             from);
}

LayerId Net::fc(std::string layer, LayerId from, std::int64_t features) {
  return add(std::move(layer), FullyConnected{features, true}, from);
}

LayerId Net::conv_bn_relu(const std::string& prefix, LayerId from, std::int64_t channels,
                          const Windows& windows) {
  LayerId at = conv(prefix + "_conv", from, channels, windows, false);
  at = add(prefix + "_bn", BatchNorm{1e-3}, at);
  return relu(prefix + "_relu", at);
}

Graph Net::with_loss(LayerId from) && {
  add("loss", SoftmaxCrossEntropy{}, from);
  return std::move(builder_).build();
}

}  // namespace strata
