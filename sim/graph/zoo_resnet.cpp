// ResNets of He, Zhang, Ren and Sun, "Deep residual learning for image recognition", 2016, with
// torchvision's details (a bottleneck's stride is on its 3x3 convolution, "v1.5") and layer names.

#include <array>

#include <fmt/format.h>

#include "sim/graph/zoo_net.h"

namespace strata {
namespace {

using Depths = std::array<int, 4>;  ///< blocks in each of the four stages

class ResNet {
 public:
  ResNet(Net& net, bool bottleneck) : net_(net), bottleneck_(bottleneck) {}

  LayerId stem(LayerId at) {
    at = net_.add("bn1", BatchNorm{}, net_.conv("conv1", at, 64, windows2d(7, 2, 3), false));
    return net_.max_pool("maxpool", net_.relu("relu", at), windows2d(3, 2, 1));
  }

  LayerId stage(int number, LayerId at, int blocks) {
    const std::int64_t width = std::int64_t{64} << (number - 1);
    for (int block = 0; block < blocks; ++block) {
      const std::int64_t stride = block == 0 && number > 1 ? 2 : 1;
      const bool project = block == 0 && (number > 1 || bottleneck_);
      const std::string prefix = fmt::format("layer{}_{}_", number, block);
      at = bottleneck_ ? bottleneck(prefix, at, width, stride, project)
                       : basic(prefix, at, width, stride, project);
    }
    return at;
  }

 private:
  LayerId basic(const std::string& p, LayerId in, std::int64_t width, std::int64_t stride,
                bool project) {
    LayerId at = conv_bn(p, 1, in, width, windows2d(3, stride, 1));
    at = net_.relu(p + "relu1", at);
    at = conv_bn(p, 2, at, width, windows2d(3, 1, 1));
    return close(p, 2, at, project ? projected(p, in, width, stride) : in);
  }

  LayerId bottleneck(const std::string& p, LayerId in, std::int64_t width, std::int64_t stride,
                     bool project) {
    LayerId at = conv_bn(p, 1, in, width, windows2d(1));
    at = net_.relu(p + "relu1", at);
    at = conv_bn(p, 2, at, width, windows2d(3, stride, 1));
    at = net_.relu(p + "relu2", at);
    at = conv_bn(p, 3, at, 4 * width, windows2d(1));
    return close(p, 3, at, project ? projected(p, in, 4 * width, stride) : in);
  }

  LayerId conv_bn(const std::string& p, int number, LayerId from, std::int64_t channels,
                  const Windows& windows) {
    const LayerId conv =
        net_.conv(fmt::format("{}conv{}", p, number), from, channels, windows, false);
    return net_.add(fmt::format("{}bn{}", p, number), BatchNorm{}, conv);
  }

  LayerId projected(const std::string& p, LayerId in, std::int64_t channels, std::int64_t stride) {
    const LayerId conv = net_.conv(p + "downsample_0", in, channels, windows2d(1, stride), false);
    return net_.add(p + "downsample_1", BatchNorm{}, conv);
  }

  LayerId close(const std::string& p, int number, LayerId at, LayerId identity) {
    const LayerId sum = net_.join(p + "add", Add{}, {at, identity});
    return net_.relu(fmt::format("{}relu{}", p, number), sum);
  }

  Net& net_;
  bool bottleneck_;
};

Graph build_resnet(std::string_view name, std::int64_t batch, bool bottleneck,
                   const Depths& depths) {
  Net net(name, batch);
  ResNet resnet(net, bottleneck);
  LayerId at = resnet.stem(net.input(3, 224, 224));
  for (int stage = 1; stage <= 4; ++stage) {
    at = resnet.stage(stage, at, depths[static_cast<std::size_t>(stage - 1)]);
  }
  at = net.add("flatten", Flatten{}, net.average_to("avgpool", at, 1));
  at = net.fc("fc", at, 1000);
  return std::move(net).with_loss(at);
}

}  // namespace

Graph build_resnet18(std::string_view name, std::int64_t batch) {
  return build_resnet(name, batch, false, {2, 2, 2, 2});
}
Graph build_resnet50(std::string_view name, std::int64_t batch) {
  return build_resnet(name, batch, true, {3, 4, 6, 3});
}
Graph build_resnet101(std::string_view name, std::int64_t batch) {
  return build_resnet(name, batch, true, {3, 4, 23, 3});
}
Graph build_resnet152(std::string_view name, std::int64_t batch) {
  return build_resnet(name, batch, true, {3, 8, 36, 3});
}

}  // namespace strata
