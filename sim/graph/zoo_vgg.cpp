// VGG-16 (configuration D) of Simonyan and Zisserman, "Very deep convolutional networks for
// large-scale image recognition", 2015, with torchvision's layer names.

#include <array>

#include <fmt/format.h>

#include "sim/graph/zoo_net.h"

namespace strata {
namespace {

constexpr std::int64_t kPool = 0;
constexpr std::array<std::int64_t, 18> kConfigurationD = {64,  64,    kPool, 128,   128, kPool,
                                                          256, 256,   256,   kPool, 512, 512,
                                                          512, kPool, 512,   512,   512, kPool};

}  // namespace

Graph build_vgg16(std::string_view name, std::int64_t batch) {
  Net net(name, batch);
  LayerId at = net.input(3, 224, 224);
  int next = 0;
  const auto feature = [&next] { return fmt::format("features_{}", next++); };
  for (std::int64_t channels : kConfigurationD) {
    if (channels == kPool) {
      at = net.max_pool(feature(), at, windows2d(2, 2));
    } else {
      at = net.conv(feature(), at, channels, windows2d(3, 1, 1));
      at = net.relu(feature(), at);
    }
  }
  at = net.add("flatten", Flatten{}, net.average_to("avgpool", at, 7));
  at = net.relu("classifier_1", net.fc("classifier_0", at, 4096));
  at = net.add("classifier_2", Dropout{}, at);
  at = net.relu("classifier_4", net.fc("classifier_3", at, 4096));
  at = net.add("classifier_5", Dropout{}, at);
  at = net.fc("classifier_6", at, 1000);
  return std::move(net).with_loss(at);
}

}  // namespace strata
