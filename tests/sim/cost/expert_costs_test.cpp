// What the shards of experts cost: as many tokens as they take, passes that an all-to-all needs,
// and what their hosts launch.

#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "sim/cost/cost_model.h"
#include "sim/cost/layer_costs.h"
#include "sim/graph/expert_load.h"
#include "sim/graph/finetuning.h"
#include "sim/graph/zoo.h"
#include "tests/sim/cost/toy_profile.h"

namespace strata {
namespace {

Graph mixture() {
  return build_zoo("llama:layers=1,hidden=64,heads=4,seq=256,vocab=64,experts=4,topk=2,moe_ffn=48",
                   8);
}

// A layer's shard of a quarter of the experts, or all of a layer with tokens.
Cost cost(const Graph& graph, const char* name, Phase phase, std::int64_t quarter = 0) {
  const auto model = make_cost_model(toy_profile());
  LayerCosts costs(graph, {});
  const LayerId layer = graph.find(name);
  Tile shard = whole(graph[layer].output);
  if (shard[Dim::d].size() == 4 && quarter >= 0) shard[Dim::d] = {quarter, quarter + 1};
  return costs(layer, shard, *model)[static_cast<std::size_t>(phase)];
}

// An activation is one pass, in proportion to what it reads and writes: whole slots, of which an
// expert has 128 in the mean.
TEST(ExpertCosts, FollowTheLoadOfTheShard) {
  const Graph even = mixture(), uneven = with_expert_load(even, ZipfLoad{1});
  const Layer& act = even[even.find("block1_ffn_expert_act")];
  const double launch = 10e-6;
  const double balanced =
      cost(even, "block1_ffn_expert_act", Phase::forward).seconds.value - launch;
  double sum = 0;
  for (std::int64_t i = 0; i < 4; ++i) {
    Box shard = whole(act.output);
    shard[Dim::d] = {i, i + 1};
    const double load = load_of(uneven[uneven.find("block1_ffn_expert_act")], shard);
    const double own =
        cost(uneven, "block1_ffn_expert_act", Phase::forward, i).seconds.value - launch;
    EXPECT_NEAR(own / balanced, load, 0.5 / 128) << i;
    sum += own;
  }
  EXPECT_NEAR(sum / balanced, 4, 1e-2);
}

// What a dispatch reads of tokens and gates is as much, whatever slots they go to. Forward it reads
// and writes slots, of 8 samples and 64 channels; of their gradients it reads them.
TEST(ExpertCosts, OfADispatchGrowByItsSlotsAlone) {
  const Graph even = mixture(), uneven = with_expert_load(even, ZipfLoad{1});
  const Layer& dispatch = uneven[uneven.find("block1_ffn_dispatch")];
  const double slot = 8 * 64 * 4 / 50e9;
  for (const auto& [phase, passes] : {std::pair(Phase::forward, 2), {Phase::backward_data, 1}}) {
    const double balanced = cost(even, "block1_ffn_dispatch", phase).seconds.value;
    for (std::int64_t i = 0; i < 4; ++i) {
      Box shard = whole(dispatch.output);
      shard[Dim::d] = {i, i + 1};
      const double more = 128 * (load_of(dispatch, shard) - 1);
      const double own = cost(uneven, "block1_ffn_dispatch", phase, i).seconds.value;
      EXPECT_NEAR(own - balanced, passes * more * slot, passes * slot) << i;
    }
  }
}

// Slots are read and written once more, by a kernel of its own: forward and of gradients.
TEST(ExpertCosts, OfAnAllToAllAreAPassMore) {
  const Graph graph = mixture(), sorted = with_routing(graph, [](ExpertRouting&routing) {
                                   routing.dispatch = TokenDispatch::alltoall;
                                 });
  const double slots = 8 * 256 * 2 * 64;
  const double pass = 10e-6 + 2 * slots * 4 / 50e9;
  for (const char* name : {"block1_ffn_dispatch", "block1_ffn_combine"}) {
    for (const Phase phase : {Phase::forward, Phase::backward_data}) {
      const Cost before = cost(graph, name, phase, -1), after = cost(sorted, name, phase, -1);
      EXPECT_NEAR(after.seconds.value - before.seconds.value, pass, 1e-9) << name;
      EXPECT_EQ(after.kernels, before.kernels + 1) << name;
    }
  }
}

TEST(ExpertCosts, SayWhatHostsLaunchAndWaitFor) {
  const Graph graph = mixture();
  const Graph each = with_routing(graph, [](ExpertRouting& r) { r.product_each = true; });
  const Graph counted = with_routing(graph, [](ExpertRouting& r) { r.counts_on_host = true; });
  const char* const product = "block1_ffn_expert_out";
  for (const Phase phase : {Phase::forward, Phase::backward_data, Phase::backward_weights}) {
    EXPECT_EQ(cost(graph, product, phase, -1).kernels, 1);
    EXPECT_EQ(cost(each, product, phase, -1).kernels, 4);
    EXPECT_EQ(cost(each, product, phase, 2).kernels, 1);
  }
  // One pass makes the weights of all experts of fewer bits.
  const Graph unpacked =
      with_routing(finetuned(graph, parse_finetuning("lora:r=4,targets=attention,dtype=nf4")),
                   [](ExpertRouting& r) { r.product_each = true; });
  EXPECT_EQ(cost(unpacked, product, Phase::forward, -1).kernels, 5);
  EXPECT_EQ(cost(unpacked, product, Phase::backward_data, 2).kernels, 2);
  EXPECT_FALSE(cost(graph, "block1_ffn_dispatch", Phase::forward, -1).host_waits);
  EXPECT_TRUE(cost(counted, "block1_ffn_dispatch", Phase::forward, -1).host_waits);
  EXPECT_FALSE(cost(counted, "block1_ffn_combine", Phase::forward, -1).host_waits);
}

}  // namespace
}  // namespace strata
