// What a step keeps, computes and sums where it trains adapters, or some layers alone.

#include "sim/graph/finetuning.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/cluster/presets.h"
#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/strategy.h"
#include "sim/timeline/memory.h"

namespace strata::finetuning {
namespace {

// A block has 4 + 2 + 2 + 4 times 16 x 16 weights in its attention, and 3 x 16 x 48 behind it.
constexpr std::int64_t kHidden = 16, kFfn = 48, kSeq = 8, kBatch = 4, kVocab = 20;

Graph trained(std::string_view train) {
  const Graph graph =
      build_zoo("llama:layers=2,hidden=16,heads=4,kv_heads=4,ffn=48,seq=8,vocab=20", kBatch);
  return finetuned(graph, parse_finetuning(train));
}

Plan plan_of(const Graph& graph, std::string_view strategy, int devices, GradientSync sync = {}) {
  LowerOptions options;
  options.sync = sync;
  options.optimizer = Optimizer::adam;
  const Cluster cluster = preset_cluster("p100-1x" + std::to_string(devices));
  return lower(graph, cluster,
               strategy == "data" ? data_parallel(graph, devices)
                                  : hybrid_parallel(graph, devices, strategy),
               options);
}

std::map<BufferKind, std::int64_t> bytes_by_kind(const Plan& plan) {
  std::map<BufferKind, std::int64_t> bytes;
  for (const Buffer& buffer : plan.buffers()) bytes[buffer.kind] += buffer.bytes.value;
  return bytes;
}

std::vector<std::string> layers_with(const Graph& graph, const Plan& plan, Phase phase) {
  std::vector<std::string> names;
  for (const Task& task : plan.tasks()) {
    if (task.kind == TaskKind::compute && task.phase == phase) {
      names.push_back(graph[task.layer].name);
    }
  }
  std::ranges::sort(names);
  return names;
}

TEST(Finetuning, PutsAdaptersBesideProducts) {
  const Graph graph = trained("lora:r=3,alpha=6,targets=q+ffn_out");
  EXPECT_EQ(graph.trained_parameters(), 2 * 3 * ((16 + 16) + (48 + 16)));
  const LayerId base = graph.find("block1_query"), sum = graph.find("block1_query_lora");
  ASSERT_TRUE(sum.valid());
  EXPECT_EQ(graph[sum].inputs, (std::vector<LayerId>{base, graph.find("block1_query_lora_scale")}));
  EXPECT_EQ(graph[graph.find("block1_attention")].inputs.front(), sum);
  EXPECT_EQ(graph[graph.find("block1_query_lora_a")].inputs, graph[base].inputs);
  EXPECT_EQ(std::get<Activation>(graph[graph.find("block1_query_lora_scale")].op).slope, 2);
  EXPECT_TRUE(graph[base].frozen);
  EXPECT_FALSE(graph.find("block1_key_lora").valid());
  EXPECT_FALSE(trained("lora:r=3,alpha=3").find("block1_query_lora_scale").valid());
  EXPECT_EQ(trained("full"), trained(""));
}

TEST(Finetuning, TrainsSomeLayersWholeBesideAdapters) {
  const Graph graph = trained("lora:r=3,targets=q,dtype=nf4,also=embedding+block2_query");
  EXPECT_EQ(graph.trained_parameters(), 3 * (16 + 16) + 20 * 16 + 16 * 16);
  EXPECT_FALSE(graph[graph.find("embedding")].frozen);
  EXPECT_TRUE(graph[graph.find("head")].frozen);
  EXPECT_TRUE(graph.find("block1_query_lora").valid());
  const Layer& whole = graph[graph.find("block2_query")];
  EXPECT_FALSE(whole.frozen);
  EXPECT_EQ(whole.format, WeightFormat::plain);
  EXPECT_FALSE(graph.find("block2_query_lora").valid());
  EXPECT_THROW(trained("lora:r=3,also=no_layer"), InputError);
}

TEST(Finetuning, OfAnotherBatchIsTheSame) {
  const Graph graph = trained("lora:r=3,dtype=nf4");
  EXPECT_EQ(graph.with_batch(2).with_batch(kBatch), graph);
}

// In fp32: 4 bytes of each parameter; of the trained ones 4 of a gradient and 8 of Adam's state.
TEST(Finetuning, FrozenParametersHaveNoGradientsAndNoState) {
  for (const char* train : {"lora:r=2", "frozen:embedding+block1"}) {
    const Graph graph = trained(train);
    auto bytes = bytes_by_kind(plan_of(graph, "data", 1));
    EXPECT_EQ(bytes[BufferKind::parameters], 4 * graph.parameters()) << train;
    EXPECT_EQ(bytes[BufferKind::parameter_gradients], 4 * graph.trained_parameters()) << train;
    EXPECT_EQ(bytes[BufferKind::optimizer_state], 8 * graph.trained_parameters()) << train;
  }
}

TEST(Finetuning, NothingGoesBackwardBelowTheFirstTrainedLayer) {
  const Graph graph = trained("frozen:embedding+block1+block2_attention_norm+block2_query");
  const Plan plan = plan_of(graph, "data", 1);
  const auto has = [&](Phase phase, const std::string& name) {
    return std::ranges::binary_search(layers_with(graph, plan, phase), name);
  };
  for (const char* name : {"block1_ffn_out", "block2_attention_norm", "block2_query"}) {
    EXPECT_FALSE(has(Phase::backward_data, name)) << name;
    EXPECT_FALSE(has(Phase::backward_weights, name)) << name;
    EXPECT_TRUE(has(Phase::forward, name)) << name;
  }
  EXPECT_TRUE(has(Phase::backward_weights, "block2_key"));
  EXPECT_FALSE(has(Phase::backward_data, "block2_key"));  // nothing before it is trained
  EXPECT_TRUE(has(Phase::backward_data, "block2_attention_out"));
}

// Of the second block, in fp32: t = 4 x 4 x 8 x 16 bytes is a tensor of hidden channels. Products
// of the feed-forward layer are frozen, and what they read is not kept: of the norm its input,
// which is the sum before it, and of the gate both that it multiplies. Adapters keep what they
// read, and what A makes; scales and sums keep nothing.
TEST(Finetuning, FrozenProductsKeepNoInput) {
  const Graph graph = trained("lora:r=2");
  const Plan plan = plan_of(graph, "data", 1);
  std::map<std::string, std::int64_t> kept;
  for (const BufferId id : kept_for_backward(plan, DeviceId(0))) {
    const Buffer& buffer = plan[id];
    const std::string& layer = graph[buffer.layer].name;
    if (!layer.starts_with("block2_") || buffer.kind != BufferKind::activation) continue;
    kept[layer.substr(7)] += buffer.bytes.value;
  }
  const std::int64_t positions = 4 * kBatch * kSeq, t = positions * kHidden, a = positions * 2;
  const std::map<std::string, std::int64_t> expected = {{"attention_norm", t},
                                                        {"query_lora_a", a},
                                                        {"key_lora_a", a},
                                                        {"value_lora_a", a},
                                                        {"query_lora", t},
                                                        {"key_lora", t},
                                                        {"value_lora", t},
                                                        {"attention", t},
                                                        {"attention_out_lora_a", a},
                                                        {"attention_add", t},
                                                        {"ffn_gate", positions * kFfn},
                                                        {"ffn_up", positions * kFfn},
                                                        {"ffn_add", t}};
  EXPECT_EQ(kept, expected);
}

// 4 bits, a byte for each 64 and 4 for each 64 x 256, rounded up; a byte, and 4 for each row.
TEST(Finetuning, ProductsMayKeepFewerBits) {
  const Graph nf4 = trained("lora:r=2,dtype=nf4"), int8 = trained("lora:r=2,dtype=int8");
  const LayerId gate = nf4.find("block1_ffn_gate");
  EXPECT_EQ(held_bytes(nf4[gate], kHidden * kFfn, DType::bf16), Bytes{384 + 12 + 4});
  EXPECT_EQ(held_bytes(int8[gate], kHidden * kFfn, DType::bf16), Bytes{768 + 4 * kFfn});
  for (const char* name : {"head", "embedding", "norm", "block1_query_lora_a"}) {
    EXPECT_EQ(nf4[nf4.find(name)].format, WeightFormat::plain) << name;
  }
  auto bytes = bytes_by_kind(plan_of(nf4, "data", 1));
  const std::int64_t products = 2 * (4 * (128 + 4 + 4) + 3 * (384 + 12 + 4));
  const std::int64_t norms = 5 * kHidden, ends = 2 * kVocab * kHidden;
  EXPECT_EQ(bytes[BufferKind::parameters],
            products + 4 * (norms + ends + nf4.trained_parameters()));
}

// Of two replicas that share all, each has half of each bucket, whose parts begin at multiples of
// four values.
TEST(Finetuning, FrozenParametersAreSharedAndNotSummed) {
  const Graph graph = trained("lora:r=4");
  const GradientSync sync{SyncAlgorithm::ring, Bytes{1 << 20}, Zero::parameters};
  const Plan plan = plan_of(graph, "data", 2, sync);
  auto bytes = bytes_by_kind(plan);
  EXPECT_EQ(bytes[BufferKind::parameters], 4 * graph.parameters());
  EXPECT_EQ(bytes[BufferKind::parameter_gradients], 4 * graph.trained_parameters());
  EXPECT_EQ(bytes[BufferKind::optimizer_state], 8 * graph.trained_parameters());
  std::int64_t summed = 0, gathered = 0;
  for (const Group& group : plan.groups()) {
    if (group.purpose != GroupPurpose::parameters) continue;
    (group.brings_parts() ? gathered : summed) += group.values;
  }
  EXPECT_EQ(summed, graph.trained_parameters());
  EXPECT_EQ(gathered, 2 * graph.parameters());  // of each pass
}

// Beside a product that is cut in channels, B is cut as it is; beside a sum of terms, A is.
TEST(Finetuning, AdaptersFollowTheCutOfTheirProduct) {
  const Graph graph = trained("lora:r=4,targets=q+o");
  for (const char* text : {"hybrid:tp=2", "hybrid:tp=2,sp=1"}) {
    const bool tokens = std::string_view(text).ends_with("sp=1");
    const Strategy strategy = hybrid_parallel(graph, 2, text);
    const auto degrees = [&](const char* name) { return strategy[graph.find(name)].degrees; };
    EXPECT_EQ(degrees("block1_query")[Dim::c], 2);
    EXPECT_EQ(degrees("block1_query_lora_a")[tokens ? Dim::w : Dim::c], 2);
    EXPECT_EQ(degrees("block1_query_lora_b")[Dim::c], 2);
    EXPECT_EQ(degrees("block1_query_lora")[Dim::c], 2);
    EXPECT_EQ(degrees("block1_attention_out").r, 2);
    EXPECT_EQ(degrees("block1_attention_out_lora_a").r, 2);
    EXPECT_EQ(degrees("block1_attention_out_lora_b")[tokens ? Dim::w : Dim::c], 2);
    EXPECT_EQ(degrees("block1_attention_out_lora"), degrees("block1_attention_add"));
  }
}

}  // namespace
}  // namespace strata::finetuning
