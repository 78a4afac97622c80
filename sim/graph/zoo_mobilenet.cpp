// MobileNetV2 (width 1.0) of Sandler et al., "MobileNetV2: inverted residuals and linear
// bottlenecks", 2018, Table 2, with torchvision's layer names.

#include <array>

#include <fmt/format.h>

#include "sim/graph/zoo_net.h"

namespace strata {
namespace {

/// A row of the paper's table: expansion t, output channels c, repeats n, first stride s.
struct Row {
  std::int64_t expansion, channels;
  int repeats;
  std::int64_t stride;
};
constexpr std::array<Row, 7> kRows = {{{1, 16, 1, 1},
                                       {6, 24, 2, 2},
                                       {6, 32, 3, 2},
                                       {6, 64, 4, 2},
                                       {6, 96, 3, 1},
                                       {6, 160, 3, 2},
                                       {6, 320, 1, 1}}};

/// Convolution, batch norm and ReLU6, named PREFIX_0, PREFIX_1, PREFIX_2.
LayerId unit(Net& net, const std::string& prefix, LayerId from, std::int64_t channels,
             const Windows& windows, std::int64_t groups = 1) {
  LayerId at = net.conv(prefix + "_0", from, channels, windows, false, groups);
  at = net.add(prefix + "_1", BatchNorm{}, at);
  return net.add(prefix + "_2", Activation{ActivationKind::relu6}, at);
}

/// Expand (unless t = 1), filter each channel by itself, project; add the input where it fits.
LayerId inverted_residual(Net& net, int number, LayerId in, std::int64_t in_channels,
                          const Row& row, std::int64_t stride) {
  const std::string p = fmt::format("features_{}_conv", number);
  const std::int64_t hidden = in_channels * row.expansion;
  int part = 0;
  const auto next = [&] { return fmt::format("{}_{}", p, part++); };
  LayerId at = in;
  if (row.expansion != 1) at = unit(net, next(), at, hidden, windows2d(1));
  at = unit(net, next(), at, hidden, windows2d(3, stride, 1), hidden);
  at = net.conv(next(), at, row.channels, windows2d(1), false);
  at = net.add(next(), BatchNorm{}, at);
  if (stride != 1 || in_channels != row.channels) return at;
  return net.join(fmt::format("features_{}_add", number), Add{}, {in, at});
}

}  // namespace

Graph build_mobilenet_v2(std::string_view name, std::int64_t batch) {
  Net net(name, batch);
  LayerId at = unit(net, "features_0", net.input(3, 224, 224), 32, windows2d(3, 2, 1));
  std::int64_t channels = 32;
  int number = 1;
  for (const Row& row : kRows) {
    for (int repeat = 0; repeat < row.repeats; ++repeat) {
      const std::int64_t stride = repeat == 0 ? row.stride : 1;
      at = inverted_residual(net, number++, at, channels, row, stride);
      channels = row.channels;
    }
  }
  at = unit(net, "features_18", at, 1280, windows2d(1));
  at = net.add("flatten", Flatten{}, net.average_to("avgpool", at, 1));
  at = net.fc("classifier_1", net.add("classifier_0", Dropout{0.2}, at), 1000);
  return std::move(net).with_loss(at);
}

}  // namespace strata
