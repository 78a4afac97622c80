#pragma once

// How the zoo writes its networks down: a GraphBuilder with the few phrases that their papers use.
// Every phrase appends layers and returns the last one. Part of the zoo.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/graph/graph.h"

namespace strata {

/// One value for both, or (h, w): a kernel of 1x7 is Pair(1, 7).
struct Pair {
  std::int64_t h, w;
  constexpr Pair(std::int64_t both) : h(both), w(both) {}  // NOLINT: 3 reads as 3x3
  constexpr Pair(std::int64_t along_h, std::int64_t along_w) : h(along_h), w(along_w) {}
};

Windows windows2d(Pair kernel, Pair stride = 1, Pair padding = 0);

class Net {
 public:
  Net(std::string_view name, std::int64_t batch) : builder_(std::string(name), batch) {}

  LayerId input(std::int64_t channels, std::int64_t height, std::int64_t width);
  LayerId input3d(std::int64_t channels, std::int64_t depth, std::int64_t height,
                  std::int64_t width);
  LayerId add(std::string layer, Op op, LayerId from);
  LayerId join(std::string layer, Op op, std::vector<LayerId> from);

  LayerId conv(std::string layer, LayerId from, std::int64_t channels, const Windows& windows,
               bool bias = true, std::int64_t groups = 1);
  LayerId relu(std::string layer, LayerId from) {
    return add(std::move(layer), Activation{}, from);
  }
  LayerId max_pool(std::string layer, LayerId from, const Windows& windows, bool ceil_mode = false);
  LayerId average_pool(std::string layer, LayerId from, const Windows& windows);
  /// Adaptive average pooling to outputs h x w (1 x 1 is global).
  LayerId average_to(std::string layer, LayerId from, Pair outputs);
  LayerId fc(std::string layer, LayerId from, std::int64_t features);

  /// PREFIX_conv without bias, PREFIX_bn, PREFIX_relu: the unit of Inception and GoogLeNet.
  LayerId conv_bn_relu(const std::string& prefix, LayerId from, std::int64_t channels,
                       const Windows& windows);

  /// Ends the network with softmax cross-entropy on `from`.
  Graph with_loss(LayerId from) &&;

 private:
  GraphBuilder builder_;
};

// One function per network, in zoo_*.cpp.
Graph build_lenet5(std::string_view name, std::int64_t batch);
Graph build_alexnet(std::string_view name, std::int64_t batch);
Graph build_vgg16(std::string_view name, std::int64_t batch);
Graph build_inception_v3(std::string_view name, std::int64_t batch);
Graph build_googlenet(std::string_view name, std::int64_t batch);
Graph build_resnet18(std::string_view name, std::int64_t batch);
Graph build_resnet50(std::string_view name, std::int64_t batch);
Graph build_resnet101(std::string_view name, std::int64_t batch);
Graph build_resnet152(std::string_view name, std::int64_t batch);
Graph build_densenet121(std::string_view name, std::int64_t batch);
Graph build_mobilenet_v2(std::string_view name, std::int64_t batch);
Graph build_r3d_18(std::string_view name, std::int64_t batch);
Graph build_textcnn(std::string_view name, std::int64_t batch);

}  // namespace strata
