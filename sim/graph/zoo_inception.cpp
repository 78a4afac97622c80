// Inception-v3 of Szegedy et al., "Rethinking the Inception architecture for computer vision",
// 2016, without the auxiliary head, with torchvision's details and layer names. Blocks A to E are
// torchvision's names for the paper's figures 5, 10, 6, 10 and 7.

#include "sim/graph/zoo_net.h"

namespace strata {
namespace {

class Inception {
 public:
  explicit Inception(Net& net) : net_(net) {}

  LayerId stem(LayerId at) {
    at = unit("conv2d_1a_3x3", at, 32, windows2d(3, 2));
    at = unit("conv2d_2a_3x3", at, 32, windows2d(3));
    at = unit("conv2d_2b_3x3", at, 64, windows2d(3, 1, 1));
    at = net_.max_pool("maxpool1", at, windows2d(3, 2));
    at = unit("conv2d_3b_1x1", at, 80, windows2d(1));
    at = unit("conv2d_4a_3x3", at, 192, windows2d(3));
    return net_.max_pool("maxpool2", at, windows2d(3, 2));
  }

  LayerId block_a(const std::string& mixed, LayerId in, std::int64_t pool_features) {
    const LayerId b1 = unit(mixed + "_branch1x1", in, 64, windows2d(1));
    LayerId b5 = unit(mixed + "_branch5x5_1", in, 48, windows2d(1));
    b5 = unit(mixed + "_branch5x5_2", b5, 64, windows2d(5, 1, 2));
    LayerId b3 = unit(mixed + "_branch3x3dbl_1", in, 64, windows2d(1));
    b3 = unit(mixed + "_branch3x3dbl_2", b3, 96, windows2d(3, 1, 1));
    b3 = unit(mixed + "_branch3x3dbl_3", b3, 96, windows2d(3, 1, 1));
    return net_.join(mixed, Concat{}, {b1, b5, b3, pool_branch(mixed, in, pool_features)});
  }

  LayerId block_b(const std::string& mixed, LayerId in) {
    const LayerId b3 = unit(mixed + "_branch3x3", in, 384, windows2d(3, 2));
    LayerId dbl = unit(mixed + "_branch3x3dbl_1", in, 64, windows2d(1));
    dbl = unit(mixed + "_branch3x3dbl_2", dbl, 96, windows2d(3, 1, 1));
    dbl = unit(mixed + "_branch3x3dbl_3", dbl, 96, windows2d(3, 2));
    const LayerId pool = net_.max_pool(mixed + "_pool", in, windows2d(3, 2));
    return net_.join(mixed, Concat{}, {b3, dbl, pool});
  }

  LayerId block_c(const std::string& mixed, LayerId in, std::int64_t c7) {
    const LayerId b1 = unit(mixed + "_branch1x1", in, 192, windows2d(1));
    LayerId b7 = unit(mixed + "_branch7x7_1", in, c7, windows2d(1));
    b7 = unit(mixed + "_branch7x7_2", b7, c7, kAcross);
    b7 = unit(mixed + "_branch7x7_3", b7, 192, kDown);
    LayerId dbl = unit(mixed + "_branch7x7dbl_1", in, c7, windows2d(1));
    dbl = unit(mixed + "_branch7x7dbl_2", dbl, c7, kDown);
    dbl = unit(mixed + "_branch7x7dbl_3", dbl, c7, kAcross);
    dbl = unit(mixed + "_branch7x7dbl_4", dbl, c7, kDown);
    dbl = unit(mixed + "_branch7x7dbl_5", dbl, 192, kAcross);
    return net_.join(mixed, Concat{}, {b1, b7, dbl, pool_branch(mixed, in, 192)});
  }

  LayerId block_d(const std::string& mixed, LayerId in) {
    LayerId b3 = unit(mixed + "_branch3x3_1", in, 192, windows2d(1));
    b3 = unit(mixed + "_branch3x3_2", b3, 320, windows2d(3, 2));
    LayerId b7 = unit(mixed + "_branch7x7x3_1", in, 192, windows2d(1));
    b7 = unit(mixed + "_branch7x7x3_2", b7, 192, kAcross);
    b7 = unit(mixed + "_branch7x7x3_3", b7, 192, kDown);
    b7 = unit(mixed + "_branch7x7x3_4", b7, 192, windows2d(3, 2));
    const LayerId pool = net_.max_pool(mixed + "_pool", in, windows2d(3, 2));
    return net_.join(mixed, Concat{}, {b3, b7, pool});
  }

  LayerId block_e(const std::string& mixed, LayerId in) {
    const LayerId b1 = unit(mixed + "_branch1x1", in, 320, windows2d(1));
    LayerId b3 = unit(mixed + "_branch3x3_1", in, 384, windows2d(1));
    b3 = fork(mixed + "_branch3x3", "_2a", "_2b", b3);
    LayerId dbl = unit(mixed + "_branch3x3dbl_1", in, 448, windows2d(1));
    dbl = unit(mixed + "_branch3x3dbl_2", dbl, 384, windows2d(3, 1, 1));
    dbl = fork(mixed + "_branch3x3dbl", "_3a", "_3b", dbl);
    return net_.join(mixed, Concat{}, {b1, b3, dbl, pool_branch(mixed, in, 192)});
  }

 private:
  static inline const Windows kAcross = windows2d({1, 7}, 1, {0, 3});
  static inline const Windows kDown = windows2d({7, 1}, 1, {3, 0});

  LayerId unit(const std::string& prefix, LayerId from, std::int64_t channels,
               const Windows& windows) {
    return net_.conv_bn_relu(prefix, from, channels, windows);
  }

  LayerId pool_branch(const std::string& mixed, LayerId in, std::int64_t channels) {
    const LayerId pool = net_.average_pool(mixed + "_pool", in, windows2d(3, 1, 1));
    return unit(mixed + "_branch_pool", pool, channels, windows2d(1));
  }

  /// A 1x3 and a 3x1 convolution of the same input, side by side.
  LayerId fork(const std::string& branch, const char* a, const char* b, LayerId from) {
    const LayerId across = unit(branch + a, from, 384, windows2d({1, 3}, 1, {0, 1}));
    const LayerId down = unit(branch + b, from, 384, windows2d({3, 1}, 1, {1, 0}));
    return net_.join(branch, Concat{}, {across, down});
  }

  Net& net_;
};

}  // namespace

Graph build_inception_v3(std::string_view name, std::int64_t batch) {
  Net net(name, batch);
  Inception inception(net);
  LayerId at = inception.stem(net.input(3, 299, 299));
  at = inception.block_a("mixed_5b", at, 32);
  at = inception.block_a("mixed_5c", at, 64);
  at = inception.block_a("mixed_5d", at, 64);
  at = inception.block_b("mixed_6a", at);
  at = inception.block_c("mixed_6b", at, 128);
  at = inception.block_c("mixed_6c", at, 160);
  at = inception.block_c("mixed_6d", at, 160);
  at = inception.block_c("mixed_6e", at, 192);
  at = inception.block_d("mixed_7a", at);
  at = inception.block_e("mixed_7b", at);
  at = inception.block_e("mixed_7c", at);
  at = net.add("dropout", Dropout{}, net.average_to("avgpool", at, 1));
  at = net.fc("fc", net.add("flatten", Flatten{}, at), 1000);
  return std::move(net).with_loss(at);
}

}  // namespace strata
