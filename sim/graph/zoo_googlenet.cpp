// GoogLeNet of Szegedy et al., "Going deeper with convolutions", 2015, without the auxiliary
// heads, with torchvision's details and layer names: batch norm after every convolution, and 3x3
// kernels in the branch whose paper says 5x5.

#include <array>

#include "sim/graph/zoo_net.h"

namespace strata {
namespace {

/// Channels of the four branches: 1x1; 1x1 then 3x3; 1x1 then 3x3; pool then 1x1.
struct Block {
  const char* name;
  std::int64_t one, two_in, two, three_in, three, pool;
};

constexpr std::array<Block, 2> kBlocks3 = {{
    {"inception3a", 64, 96, 128, 16, 32, 32},
    {"inception3b", 128, 128, 192, 32, 96, 64},
}};
constexpr std::array<Block, 5> kBlocks4 = {{
    {"inception4a", 192, 96, 208, 16, 48, 64},
    {"inception4b", 160, 112, 224, 24, 64, 64},
    {"inception4c", 128, 128, 256, 24, 64, 64},
    {"inception4d", 112, 144, 288, 32, 64, 64},
    {"inception4e", 256, 160, 320, 32, 128, 128},
}};
constexpr std::array<Block, 2> kBlocks5 = {{
    {"inception5a", 256, 160, 320, 32, 128, 128},
    {"inception5b", 384, 192, 384, 48, 128, 128},
}};

LayerId add_block(Net& net, const Block& block, LayerId in) {
  const std::string p = block.name;
  const Windows one = windows2d(1), three = windows2d(3, 1, 1);
  const LayerId b1 = net.conv_bn_relu(p + "_branch1", in, block.one, one);
  LayerId b2 = net.conv_bn_relu(p + "_branch2_0", in, block.two_in, one);
  b2 = net.conv_bn_relu(p + "_branch2_1", b2, block.two, three);
  LayerId b3 = net.conv_bn_relu(p + "_branch3_0", in, block.three_in, one);
  b3 = net.conv_bn_relu(p + "_branch3_1", b3, block.three, three);
  LayerId b4 = net.max_pool(p + "_branch4_0", in, three, true);
  b4 = net.conv_bn_relu(p + "_branch4_1", b4, block.pool, one);
  return net.join(p, Concat{}, {b1, b2, b3, b4});
}

}  // namespace

Graph build_googlenet(std::string_view name, std::int64_t batch) {
  Net net(name, batch);
  LayerId at = net.input(3, 224, 224);
  at = net.conv_bn_relu("conv1", at, 64, windows2d(7, 2, 3));
  at = net.max_pool("maxpool1", at, windows2d(3, 2), true);
  at = net.conv_bn_relu("conv2", at, 64, windows2d(1));
  at = net.conv_bn_relu("conv3", at, 192, windows2d(3, 1, 1));
  at = net.max_pool("maxpool2", at, windows2d(3, 2), true);
  for (const Block& block : kBlocks3) at = add_block(net, block, at);
  at = net.max_pool("maxpool3", at, windows2d(3, 2), true);
  for (const Block& block : kBlocks4) at = add_block(net, block, at);
  at = net.max_pool("maxpool4", at, windows2d(2, 2), true);
  for (const Block& block : kBlocks5) at = add_block(net, block, at);
  at = net.add("flatten", Flatten{}, net.average_to("avgpool", at, 1));
  at = net.fc("fc", net.add("dropout", Dropout{0.2}, at), 1000);
  return std::move(net).with_loss(at);
}

}  // namespace strata
