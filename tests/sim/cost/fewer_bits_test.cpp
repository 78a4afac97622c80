// Products in eight bits and fewer: which layers have them, and what casts cost.

#include <memory>

#include <gtest/gtest.h>

#include "sim/cost/cost_model.h"
#include "sim/cost/layer_costs.h"
#include "tests/sim/cost/toy_profile.h"

namespace strata {
namespace {

KernelTable products(DType dtype, double milliseconds) {
  return {KernelKind::product,
          dtype,
          {},
          {},
          {},
          {},
          {1e-5, 1e12, 1e18, 0, 0, 1e9, 1, 1},
          {},
          {{{1, 64, 512, 256}, milliseconds},
           {{1, 64, 256, 512}, milliseconds},
           {{1, 512, 256, 64}, milliseconds}}};
}

// A product takes 8 ms in bf16 and 2 ms in the other type.
Profile with(DType other) {
  Profile profile = toy_profile();
  profile.peaks[static_cast<std::size_t>(DType::bf16)] = profile.peaks[0];
  profile.peaks[static_cast<std::size_t>(other)] = profile.peaks[0];
  profile.tables = {products(DType::bf16, 8), products(other, 2)};
  return profile;
}

// 64 positions of 256 channels, to 512, 256 and, behind an activation, 512 that a loss reads.
Graph three_products() {
  GraphBuilder builder("three", 1);
  LayerId at = builder.add("data", Input{{{1, 256, 1, 1, 64}}}, {});
  at = builder.add("up", Linear{512, false}, {at});
  at = builder.add("down", Linear{256, false}, {at});
  at = builder.add("head", Linear{512, false}, {at});
  at = builder.add("act", Activation{ActivationKind::tanh}, {at});
  builder.add("loss", SoftmaxCrossEntropy{}, {at});
  return std::move(builder).build();
}

struct OfLayer {
  Graph graph = three_products();
  std::unique_ptr<const CostModel> model;

  explicit OfLayer(const Profile& profile) : model(make_cost_model(profile)) {}
  double seconds(std::string_view name, Phase phase, DType dtype) {
    LayerCosts costs(graph, {dtype, Optimizer::sgd, Products::apart});
    const LayerId layer = graph.find(name);
    const Tile all = partition(graph[layer], kWhole).tile(0);
    return costs(layer, all, *model)[static_cast<std::size_t>(phase)].seconds.value;
  }
  // Of a tensor of so many elements, read in two bytes and written in one, twice.
  double cast(std::int64_t elements) const {
    return model->move(MoveKind::local, Bytes{2 * elements}).seconds.value;
  }
};

TEST(FewerBits, AProductInFp8CostsItsRowAndTheCastsOfWhatItReads) {
  OfLayer of(with(DType::fp8));
  EXPECT_NEAR(of.seconds("up", Phase::forward, DType::fp8), 2e-3 + of.cast(64 * 256), 1e-9);
  EXPECT_NEAR(of.seconds("down", Phase::forward, DType::fp8), 2e-3 + of.cast(64 * 512), 1e-9);
  EXPECT_NEAR(of.seconds("down", Phase::backward_data, DType::fp8), 2e-3 + of.cast(64 * 256), 1e-9);
  EXPECT_NEAR(of.seconds("down", Phase::backward_weights, DType::fp8), 2e-3, 1e-9);
}

TEST(FewerBits, OtherTypesHaveTheirCastsWithin) {
  for (const DType dtype : {DType::fp8_block, DType::nvfp4}) {
    OfLayer of(with(dtype));
    EXPECT_NEAR(of.seconds("up", Phase::forward, dtype), 2e-3, 1e-9) << name(dtype);
  }
  Profile blocks = with(DType::fp8_block);
  blocks.peaks[static_cast<std::size_t>(DType::mxfp8)] = blocks.peaks[0];
  OfLayer of(blocks);
  EXPECT_NEAR(of.seconds("up", Phase::forward, DType::mxfp8), 2e-3, 1e-9);
}

TEST(FewerBits, TheLayerThatEndsTheNetworkStaysIn16Bits) {
  OfLayer of(with(DType::fp8));
  for (const Phase phase : {Phase::forward, Phase::backward_data, Phase::backward_weights}) {
    EXPECT_NEAR(of.seconds("head", phase, DType::fp8), 8e-3, 1e-9);
  }
}

TEST(FewerBits, EverythingElseStaysIn16Bits) {
  OfLayer of(with(DType::fp8));
  for (const Phase phase : {Phase::forward, Phase::backward_data, Phase::update}) {
    EXPECT_EQ(of.seconds("act", phase, DType::fp8), of.seconds("act", phase, DType::bf16));
  }
  EXPECT_EQ(of.seconds("up", Phase::update, DType::fp8),
            of.seconds("up", Phase::update, DType::bf16));
}

TEST(FewerBits, AKindWithoutThePeakHasItsProductsIn16Bits) {
  OfLayer of(with(DType::fp8));
  EXPECT_EQ(of.seconds("up", Phase::forward, DType::nvfp4),
            of.seconds("up", Phase::forward, DType::bf16));
}

TEST(FewerBits, TensorsStayIn16Bits) {
  const DTypes types = DType::fp8;
  EXPECT_EQ(element_bytes(types.values), 2);
  EXPECT_EQ(types.parameters, DType::bf16);
  EXPECT_EQ(types.gradients, DType::bf16);
  EXPECT_EQ(stored(DType::fp32), DType::fp32);
  EXPECT_EQ(parse_dtype("fp8-block"), DType::fp8_block);
}

}  // namespace
}  // namespace strata
