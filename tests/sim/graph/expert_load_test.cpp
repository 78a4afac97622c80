// Experts with unequally many tokens: which distribution, and what falls to which shard.

#include "sim/graph/expert_load.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/graph/zoo.h"

namespace strata {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

Graph mixture() {
  return build_zoo("llama:layers=2,hidden=32,heads=4,seq=16,vocab=64,experts=4,topk=2,moe_ffn=24",
                   4);
}

const Layer& layer(const Graph& graph, const char* name) {
  return graph[graph.find(name)];
}

std::vector<double> sorted(std::vector<double> values) {
  std::ranges::sort(values, std::greater());
  return values;
}

// 1, 1/2, 1/3 and 1/4 of 25/12, whose mean is a quarter of that.
TEST(ExpertLoad, OfZipfFallsWithTheRank) {
  EXPECT_THAT(sorted(zipf_load(4, 1, 1)),
              Pointwise(DoubleNear(1e-12), {48 / 25.0, 24 / 25.0, 16 / 25.0, 12 / 25.0}));
  EXPECT_THAT(zipf_load(4, 1, 0), Pointwise(DoubleNear(1e-12), {1., 1., 1., 1.}));
  EXPECT_EQ(zipf_load(64, 8, 1.2), zipf_load(64, 8, 1.2));
  EXPECT_NE(zipf_load(64, 8, 1.2), sorted(zipf_load(64, 8, 1.2)));
}

// Each token has two experts of four: none has more than twice the mean. The others have what is
// left in proportion to 1/2, 1/3 and 1/4 to the fourth.
TEST(ExpertLoad, OfAnExpertIsAllTokensAtMost) {
  const double rest = 1 / 16.0 + 1 / 81.0 + 1 / 256.0;
  EXPECT_THAT(
      sorted(zipf_load(4, 2, 4)),
      Pointwise(DoubleNear(1e-12), {2., 2 / 16.0 / rest, 2 / 81.0 / rest, 2 / 256.0 / rest}));
}

TEST(ExpertLoad, OfCountsFallsToShards) {
  const Graph graph = with_expert_load(mixture(), CountedLoad{{30, 10, 20, 20}});
  const Layer& product = layer(graph, "block2_ffn_expert_up");
  const auto load = [&](std::int64_t first, std::int64_t last) {
    Box box = whole(product.output);
    box[Dim::d] = {first, last};
    return load_of(product, box);
  };
  EXPECT_DOUBLE_EQ(load(0, 1), 1.5);
  EXPECT_DOUBLE_EQ(load(1, 2), 0.5);
  EXPECT_DOUBLE_EQ(load(1, 3), 0.75);
  EXPECT_EQ(load(0, 4), 1);
  EXPECT_DOUBLE_EQ(most_load(product, 4), 1.5);
  EXPECT_EQ(most_load(product, 1), 1);
  Box box = whole(product.output);
  box[Dim::d] = {0, 1};
  EXPECT_EQ(loaded(product, box)[Dim::w].size(), box[Dim::w].size() * 3 / 2);
  // Slots are between a dispatch and its combination; others have all tokens.
  EXPECT_TRUE(layer(graph, "block2_ffn_combine").routing.load.empty());
  EXPECT_TRUE(layer(graph, "head").routing.load.empty());
  EXPECT_EQ(graph.with_batch(8)[graph.find("block2_ffn_expert_up")].routing, product.routing);
  EXPECT_EQ(with_expert_load(graph, BalancedLoad{}), mixture());
}

// A sum may read what carries none first.
TEST(ExpertLoad, IsOfTheDispatchWhateverElseALayerReads) {
  GraphBuilder builder("mixture", 4);
  const LayerId data = builder.add("data", Input{{1, 8, 1, 1, 16}}, {});
  const LayerId gates = builder.add("gates", Router{4, 2}, {data});
  const LayerId slots = builder.add("dispatch", Dispatch{2}, {data, gates});
  Extents of_one = builder.output(slots);
  of_one[Dim::n] = 1;
  const LayerId offset = builder.add("offset", Input{of_one}, {});
  const LayerId sum = builder.add("sum", Add{}, {offset, slots});
  builder.add("combine", Combine{}, {sum, gates});
  const Graph graph = with_expert_load(std::move(builder).build(), ZipfLoad{1});
  EXPECT_EQ(dispatch_of(graph, sum), slots);
  EXPECT_EQ(graph[sum].routing.load, zipf_load(4, 2, 1));
  EXPECT_TRUE(graph[offset].routing.load.empty());
}

TEST(ExpertRouting, IsOfLayersFromADispatchToItsCombination) {
  const auto gather = [](ExpertRouting& r) { r.dispatch = TokenDispatch::allgather; };
  const Graph graph = with_routing(mixture(), gather);
  for (const Layer& one : graph.layers()) {
    const bool chosen = one.name.find("_expert_") != std::string::npos ||
                        one.name.ends_with("_dispatch") || one.name.ends_with("_combine");
    EXPECT_EQ(one.routing.dispatch == TokenDispatch::allgather, chosen) << one.name;
  }
  EXPECT_EQ(with_routing(graph, [](ExpertRouting& r) { r.dispatch = TokenDispatch::direct; }),
            mixture());
}

std::string error(const Graph& graph, const ExpertLoad& load) {
  try {
    with_expert_load(graph, load);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(ExpertLoad, SaysWhatIsExpected) {
  EXPECT_EQ(error(build_zoo("lenet5", 4), BalancedLoad{}),
            "lenet5 has no experts; expected a mixture of experts");
  const auto of = [](std::vector<double> tokens) {
    return error(mixture(), CountedLoad{std::move(tokens)});
  };
  EXPECT_EQ(of({1, 2, 3}), "there are 3 counts; expected one for each of 4 experts");
  EXPECT_EQ(of({0, 0, 0, 0}), "no expert has a token");
  EXPECT_EQ(of({1, 2, 30, 4}), "expert 2 has 30 of 37 tokens; expected a token of each 2 at most");
}

}  // namespace
}  // namespace strata
