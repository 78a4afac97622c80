// Which layers the pass takes for one product.

#include "sim/step/merged_products.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "sim/graph/zoo.h"
#include "sim/step/step.h"

namespace strata {
namespace {

// A line for each product, of the names of its layers.
std::string text_of(const Graph& graph, const MergedProducts& products) {
  std::string text;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto layers = products.of(LayerId(i));
    if (layers.empty() || layers.front() != LayerId(i)) continue;
    for (const LayerId layer : layers) {
      EXPECT_TRUE(std::ranges::equal(products.of(layer), layers)) << graph[layer].name;
      text += graph[layer].name + " ";
    }
    text.back() = '\n';
  }
  return text;
}

TEST(MergedProducts, AreThoseOfOneInput) {
  const Graph graph =
      build_zoo("llama:layers=1,hidden=32,heads=4,kv_heads=2,ffn=64,seq=8,vocab=16", 2);
  EXPECT_EQ(text_of(graph, merge_products(graph, Products::merged)),
            "block1_query block1_key block1_value\nblock1_ffn_gate block1_ffn_up\n");
  EXPECT_TRUE(merge_products(graph, Products::apart).empty());
}

TEST(MergedProducts, AreThoseOfExperts) {
  const Graph graph = build_zoo(
      "llama:layers=1,hidden=32,heads=4,ffn=48,shared_ffn=64,seq=8,vocab=16,experts=4", 2);
  const MergedProducts merged = merge_products(graph, Products::merged);
  EXPECT_EQ(text_of(graph, merged),
            "block1_query block1_key block1_value\nblock1_ffn_expert_gate block1_ffn_expert_up\n"
            "block1_ffn_shared_gate block1_ffn_shared_up\n");
  // Two experts of four, half of their channels, of which the product has as many of either.
  const LayerId gate = graph.find("block1_ffn_expert_gate");
  Tile shard = whole(graph[gate].output);
  shard[Dim::d] = {2, 4}, shard[Dim::c] = {0, 24};
  const PartOfProduct part = part_of_product(graph, merged.of(gate), gate, shard);
  EXPECT_EQ(part.op, Op(ExpertLinear{48}));
  EXPECT_EQ(part.parameters, (Parameters{2 * 48 * 32, 0, graph[gate].parameters.loops}));
  EXPECT_EQ(part.share, 0.5);
}

// A weight that another layer holds is in that one's matrix, and biases stand beside all columns or
// none.
TEST(MergedProducts, HaveTheirOwnWeightsAndBiasesAlike) {
  GraphBuilder builder("others", 4);
  const LayerId in = builder.add("numbers", Input{{{1, 1, 1, 1, 16}}}, {});
  const LayerId table = builder.add("table", Embedding{64, 640}, {in});
  const LayerId alone = builder.add("alone", Linear{640, true}, {table});
  builder.add("plain", Linear{640, false}, {alone});
  builder.add("biased", Linear{640, true}, {alone});
  builder.add("shared", Linear{64, false, "table"}, {alone});
  const Graph graph = std::move(builder).build();
  EXPECT_TRUE(merge_products(graph, Products::merged).empty());
}

TEST(MergedProducts, StandInTheStep) {
  const Graph graph = build_zoo("gpt:layers=2,hidden=16,heads=4,seq=8,vocab=32", 2);
  const Strategy strategy = data_parallel(graph, 2);
  StepOptions options;
  EXPECT_TRUE(make_step(graph, strategy, options).products.empty());
  options.products = Products::merged;
  const Step step = make_step(graph, strategy, options);
  EXPECT_EQ(text_of(graph, step.products),
            "block1_query block1_key block1_value\nblock2_query block2_key block2_value\n");
  EXPECT_EQ(step.actions.size(), make_step(graph, strategy, {}).actions.size());
}

}  // namespace
}  // namespace strata
