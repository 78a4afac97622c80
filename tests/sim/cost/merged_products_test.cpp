#include "sim/step/merged_products.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/cost/layer_costs.h"
#include "sim/geometry/geometry.h"
#include "sim/graph/zoo.h"
#include "tests/sim/cost/toy_profile.h"

namespace strata {
namespace {

// 16 positions of 640 channels, read by products of so many columns each.
Graph products(const std::vector<std::int64_t>& columns, std::int64_t batch = 32) {
  GraphBuilder builder("products", batch);
  const LayerId in = builder.add("data", Input{{{1, 640, 1, 1, 16}}}, {});
  for (std::size_t i = 0; i < columns.size(); ++i) {
    builder.add("product" + std::to_string(i), Linear{columns[i], true}, {in});
  }
  return std::move(builder).build();
}

std::shared_ptr<const CostModel> toy() {
  return make_cost_model(toy_profile());
}

PhaseCosts costs_of(const Graph& graph, std::size_t layer, const Degrees& degrees,
                    const CostModel& model, Products products) {
  LayerCosts costs(graph, {DType::fp32, Optimizer::sgd, products});
  const LayerId id(layer);
  return costs(id, partition(graph[id], degrees).tile(0), model);
}

// Of the layers together, in each phase.
void expect_one_product(const std::vector<std::int64_t>& columns, const Degrees& degrees) {
  std::int64_t all = 0;
  for (const std::int64_t each : columns) all += each;
  const auto model = toy();
  const Graph three = products(columns), one = products({all});
  const PhaseCosts whole = costs_of(one, 1, degrees, *model, Products::apart);
  for (int phase = 0; phase < kKernelPhases; ++phase) {
    const auto at = static_cast<std::size_t>(phase);
    double seconds = 0;
    int kernels = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Cost part = costs_of(three, i + 1, degrees, *model, Products::merged)[at];
      EXPECT_NEAR(
          part.seconds.value,
          whole[at].seconds.value * static_cast<double>(columns[i]) / static_cast<double>(all),
          1e-12);
      seconds += part.seconds.value;
      kernels += part.kernels;
    }
    EXPECT_NEAR(seconds, whole[at].seconds.value, 1e-12) << name(static_cast<Phase>(phase));
    EXPECT_EQ(kernels, whole[at].kernels) << name(static_cast<Phase>(phase));
  }
}

TEST(MergedProducts, CostWhatOneProductCosts) {
  expect_one_product({640, 640, 640}, kWhole);
  expect_one_product({640, 160, 160}, kWhole);
}

TEST(MergedProducts, AreCutAlike) {
  expect_one_product({640, 640, 640}, {{1, 4, 1, 1, 1}});
  expect_one_product({640, 160, 160}, {{2, 4, 1, 1, 1}});
  Degrees terms = kWhole;
  terms.r = 4;
  expect_one_product({640, 640}, terms);
}

// Forward passes begin with the first, backward ones with the last.
TEST(MergedProducts, AreLaunchedOnce) {
  const auto model = toy();
  const Graph graph = products({640, 640, 640});
  const auto kernels = [&](std::size_t layer, Phase phase) {
    return costs_of(graph, layer, kWhole, *model, Products::merged)[static_cast<std::size_t>(phase)]
        .kernels;
  };
  EXPECT_EQ(kernels(1, Phase::forward), 1);
  EXPECT_EQ(kernels(3, Phase::forward), 0);
  EXPECT_EQ(kernels(1, Phase::backward_data), 0);
  EXPECT_EQ(kernels(3, Phase::backward_data), 1);
  EXPECT_EQ(kernels(3, Phase::backward_weights), 1);
}

TEST(MergedProducts, OthersStayAsTheyAre) {
  GraphBuilder builder("others", 4);
  const LayerId in = builder.add("numbers", Input{{{1, 1, 1, 1, 16}}}, {});
  const LayerId table = builder.add("table", Embedding{64, 640}, {in});
  const LayerId alone = builder.add("alone", Linear{640, true}, {table});
  const LayerId plain = builder.add("plain", Linear{640, false}, {alone});
  const LayerId biased = builder.add("biased", Linear{640, true}, {alone});
  const LayerId shared = builder.add("shared", Linear{64, false, "table"}, {alone});
  const Graph graph = std::move(builder).build();
  const auto model = toy();
  for (const LayerId layer : {alone, plain, biased, shared}) {
    const PhaseCosts own = costs_of(graph, layer(), kWhole, *model, Products::apart);
    const PhaseCosts merged = costs_of(graph, layer(), kWhole, *model, Products::merged);
    for (std::size_t i = 0; i < own.size(); ++i) EXPECT_EQ(own[i].seconds, merged[i].seconds);
  }
}

// The blocks of a transformer. Apart, all these products are equal; merged, their places in the
// product tell query and key apart.
TEST(LayerCosts, EqualLayersAreOne) {
  GraphBuilder builder("blocks", 4);
  LayerId last = builder.add("data", Input{{{1, 640, 1, 1, 16}}}, {});
  for (int block = 0; block < 3; ++block) {
    const std::string name = "block" + std::to_string(block);
    const LayerId query = builder.add(name + "_query", Linear{640, true}, {last});
    builder.add(name + "_key", Linear{640, true}, {last});
    last = builder.add(name + "_out", Linear{640, true}, {query});
  }
  const Graph graph = std::move(builder).build();
  const auto first_equal = [&](Products products) {
    const LayerCosts costs(graph, {DType::fp32, Optimizer::sgd, products});
    std::vector<LayerId> first;
    for (std::size_t i = 1; i < graph.size(); ++i) first.push_back(costs.first_equal(LayerId(i)));
    return first;
  };
  const LayerId query(1), key(2), out(3);
  EXPECT_EQ(first_equal(Products::merged),
            (std::vector<LayerId>{query, key, out, query, key, out, query, key, out}));
  EXPECT_EQ(first_equal(Products::apart), std::vector<LayerId>(9, query));
}

// Keys have no bias, so that they are a product of their own beside queries and values. What all
// decoder blocks read of the encoder is multiplied by each block for itself.
TEST(MergedProducts, AreOfOneBlockAndHaveABiasOrNone) {
  const Graph graph = build_zoo("whisper-tiny", 1);
  const MergedProducts merged = merge_products(graph, Products::merged);
  std::size_t crossing = 0, alone = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const std::string& name = graph[LayerId(i)].name;
    const std::size_t products = merged.of(LayerId(i)).size();
    if (name.ends_with("cross_key") || name.ends_with("cross_value")) {
      EXPECT_EQ(products, 0U) << name;
      ++crossing;
    } else if (name.ends_with("_key")) {
      EXPECT_EQ(products, 0U) << name;
      ++alone;
    } else if (name.ends_with("_value")) {
      EXPECT_EQ(products, 2U) << name;
    }
  }
  EXPECT_EQ(crossing, 8U);
  EXPECT_EQ(alone, 8U);
}

TEST(MergedProducts, WhatIsMeasuredOfALayerIsNotGivenUp) {
  const Graph graph = products({640, 640});
  Profile profile = toy_profile();
  const LayerId layer(1);
  const Tile whole = partition(graph[layer], kWhole).tile(0);
  profile.measured.push_back(
      {cost_key(graph, layer, whole, DType::fp32, Phase::forward), {0.25}, {0}, 1, "a test"});
  const auto model = make_cost_model(profile);
  const PhaseCosts costs = costs_of(graph, 1, kWhole, *model, Products::merged);
  EXPECT_NE(costs[static_cast<std::size_t>(Phase::forward)].source, CostSource::analytic);
  EXPECT_EQ(costs[static_cast<std::size_t>(Phase::backward_data)].source, CostSource::analytic);
}

}  // namespace
}  // namespace strata
