// What a transformer's block keeps for its backward pass, beside the formulas of Korthikanti et
// al., "Reducing Activation Recomputation in Large Transformer Models", 2022, equations 1, 2 and 4:
// in 16 bits, with an attention that keeps its matrices and dropouts that keep masks of a byte, s
// tokens, b samples, h channels, a heads, t devices.

#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/cluster/presets.h"
#include "sim/graph/regions.h"
#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"
#include "sim/strategy/hybrid.h"
#include "sim/timeline/memory.h"

namespace strata {
namespace {

struct Setting {
  std::int64_t s, b, h, a, t;
  bool sp;
};

std::string model_of(const Setting& of) {
  return fmt::format("gpt:layers=3,hidden={},heads={},seq={},vocab=512,dropout=0.1", of.h, of.a,
                     of.s);
}

Plan plan_of(const Graph& graph, const Setting& of, Recompute recompute = Recompute::none) {
  const Cluster cluster = preset_cluster(fmt::format("a100-1x{}", of.t));
  LowerOptions options;
  options.dtypes = {DType::fp16, DType::fp16};
  options.kernels.assign(cluster.device_count(),
                         {.attention = AttentionKernel::unfused, .keeps_masks = true});
  options.gathers_again = of.sp;
  const std::string hybrid = fmt::format("hybrid:tp={}{}", of.t, of.sp ? ",sp=1" : "");
  const Strategy strategy = hybrid_parallel(graph, static_cast<int>(of.t), hybrid);
  return lower(graph, cluster, strategy.with(segments(graph, recompute, options.kernels.front())),
               options);
}

/// Bytes that a device keeps of the middle block's tensors: "query: activation".
std::map<std::string, std::int64_t> kept_of_block(const Setting& of, DeviceId device) {
  const Graph graph = build_zoo(model_of(of), of.b);
  const Plan plan = plan_of(graph, of);
  const std::string prefix = "block2_";
  std::map<std::string, std::int64_t> kept;
  for (const BufferId id : kept_for_backward(plan, device)) {
    const Buffer& buffer = plan[id];
    const std::string& layer = graph[buffer.layer].name;
    if (!layer.starts_with(prefix)) continue;
    kept[fmt::format("{}: {}", layer.substr(prefix.size()), name(buffer.kind))] +=
        buffer.bytes.value;
  }
  return kept;
}

std::map<std::string, std::int64_t> terms(const Setting& of) {
  const std::int64_t sbh = of.s * of.b * of.h, scores = of.a * of.s * of.s * of.b, t = of.t;
  const std::int64_t outside = of.sp ? sbh / t : sbh;  // of norms, dropouts and sums
  // Means and deviations in fp32, which the formulas leave out.
  const std::int64_t norm = 2 * 4 * of.s * of.b / (of.sp ? t : 1);
  return {{"attention_norm: activation", 2 * outside},  // what query, key and value read
          {"attention_norm: saved", norm},
          {"query: activation", 2 * sbh / t},
          {"key: activation", 2 * sbh / t},
          {"value: activation", 2 * sbh / t},
          {"attention: saved", 5 * scores / t},  // softmax 2, its mask 1, what that leaves 2
          {"attention: activation", 2 * sbh / t},
          {"attention_dropout: saved", outside},
          {"attention_add: activation", 2 * outside},  // what the second norm reads
          {"ffn_norm: activation", 2 * outside},
          {"ffn_norm: saved", norm},
          {"ffn_in: activation", 8 * sbh / t},
          {"ffn_act: activation", 8 * sbh / t},
          {"ffn_dropout: saved", outside},
          {"ffn_add: activation", 2 * outside}};  // what the next block's norm reads
}

std::int64_t formula(const Setting& of) {
  const std::int64_t sbh = of.s * of.b * of.h, scores = of.a * of.s * of.s * of.b;
  if (of.sp) return (34 * sbh + 5 * scores) / of.t;
  return 10 * sbh + (24 * sbh + 5 * scores) / of.t;
}

TEST(SavedActivations, OfABlockAreThoseOfKorthikantiToTheByte) {
  for (const Setting& of : {Setting{64, 4, 96, 6, 1, false}, Setting{64, 4, 96, 6, 2, false},
                            Setting{64, 4, 96, 6, 2, true}, Setting{128, 2, 128, 8, 8, false},
                            Setting{128, 2, 128, 8, 8, true}}) {
    SCOPED_TRACE(fmt::format("t {} sp {}", of.t, of.sp));
    for (std::int64_t device = 0; device < of.t; ++device) {
      const auto kept = kept_of_block(of, DeviceId(static_cast<std::size_t>(device)));
      EXPECT_EQ(kept, terms(of));
      std::int64_t sum = 0;
      for (const auto& [what, bytes] : kept) sum += what.ends_with("norm: saved") ? 0 : bytes;
      EXPECT_EQ(sum, formula(of));
    }
  }
}

// The largest of the paper: 1 trillion parameters, s 2048, b 1, h 25600, a 160, t 8.
TEST(SavedActivations, OfABlockOfATrillionParameters) {
  const std::int64_t mebi = 1 << 20;
  EXPECT_EQ(formula({2048, 1, 25600, 160, 8, false}) / mebi, 1050);
  for (const bool sp : {false, true}) {
    const Setting of{2048, 1, 25600, 160, 8, sp};
    EXPECT_EQ(kept_of_block(of, DeviceId(0)), terms(of)) << sp;
  }
}

/// What the devices keep of the middle one of equal blocks, where so much is computed again.
std::int64_t kept_under(const Setting& of, Recompute recompute) {
  const Graph graph = build_zoo(model_of(of), of.b);
  const Plan plan = plan_of(graph, of, recompute);
  std::int64_t sum = 0;
  for (const BufferId id : kept_for_backward(plan, DeviceId(0))) {
    const std::string& layer = graph[plan[id].layer].name;
    // A norm's means and deviations stay out of the formulas.
    const bool norm = layer.ends_with("norm") && plan[id].kind == BufferKind::saved;
    if (layer.starts_with("block2_") && !norm) sum += plan[id].bytes.value;
  }
  return sum;
}

// Equations 5 and 6: selective recomputation drops 5 a s/h, full keeps what blocks read, 2 s b h.
TEST(SavedActivations, UnderRecomputationAreThoseOfKorthikanti) {
  for (const Setting& of : {Setting{64, 4, 96, 6, 1, false}, Setting{64, 4, 96, 6, 2, false},
                            Setting{64, 4, 96, 6, 2, true}, Setting{128, 2, 128, 8, 8, true}}) {
    SCOPED_TRACE(fmt::format("t {} sp {}", of.t, of.sp));
    const std::int64_t sbh = of.s * of.b * of.h;
    EXPECT_EQ(kept_under(of, Recompute::selective),
              of.sp ? 34 * sbh / of.t : 10 * sbh + 24 * sbh / of.t);
    EXPECT_EQ(kept_under(of, Recompute::full), 2 * sbh / (of.sp ? of.t : 1));
  }
}

/// Of the models of table 3: layers, channels and heads, devices of a product, stages.
struct Megatron {
  std::int64_t l, h, a, t, p;
  double gibibytes;  ///< 18 bytes of each weight of its products, a device
};

// In bf16 with gradients in fp32 and Adam: 2 bytes, 4, and 12 of the optimizer. All stages have as
// many; biases, norms and embeddings stay out.
TEST(ModelState, OfMegatronsModelsIs18BytesAWeight) {
  for (const Megatron& of :
       {Megatron{48, 6144, 64, 8, 1, 45.5625}, Megatron{96, 12288, 96, 8, 8, 45.5625},
        Megatron{105, 20480, 128, 8, 35, 31.640625},
        Megatron{128, 25600, 160, 8, 64, 32.958984375}}) {
    SCOPED_TRACE(of.l);
    const Graph graph = build_zoo(
        fmt::format("gpt:layers={},hidden={},heads={},seq=16,vocab=512", of.l, of.h, of.a), 1);
    const Cluster cluster = preset_cluster(fmt::format("a100-{}x8", of.p));
    LowerOptions options;
    options.dtypes = DType::bf16;
    options.dtypes.gradients = DType::fp32;
    options.optimizer = Optimizer::adam;
    const std::string hybrid = fmt::format("hybrid:tp={},pp={}", of.t, of.p);
    const Strategy strategy =
        hybrid_parallel(graph, static_cast<int>(cluster.device_count()), hybrid);
    const Plan plan = lower_by_class(graph, cluster, strategy, options);
    std::vector<double> bytes(cluster.device_count());
    for (const Buffer& buffer : plan.buffers()) {
      const Layer& layer = graph[buffer.layer];
      const bool product = layer.name.starts_with("block") && layer.parameters.weight > 2 * of.h;
      const bool of_weights = buffer.kind == BufferKind::parameters ||
                              buffer.kind == BufferKind::parameter_gradients ||
                              buffer.kind == BufferKind::optimizer_state;
      if (!product || !of_weights) continue;
      const Partition cut = partition(layer, strategy[buffer.layer].degrees);
      const Parameters held = shard_parameters(layer, cut.tile(buffer.shard));
      bytes[buffer.device()] += static_cast<double>(buffer.bytes.value) *
                                static_cast<double>(held.weight) /
                                static_cast<double>(held.total());
    }
    for (std::size_t d = 0; d < bytes.size(); ++d) {
      EXPECT_DOUBLE_EQ(bytes[plan.representative(DeviceId(d))()] / (1 << 30), of.gibibytes) << d;
    }
  }
}

// Fused attentions keep a number for each query, dropouts nothing.
TEST(SavedActivations, OfUsualKernels) {
  const Setting of{64, 4, 96, 6, 1, false};
  const Graph graph = build_zoo(model_of(of), of.b);
  const Plan plan = lower(graph, preset_cluster("a100-1x1"), data_parallel(graph, 1));
  std::map<std::string, std::int64_t> saved;
  for (const BufferId id : kept_for_backward(plan, DeviceId(0))) {
    if (plan[id].kind != BufferKind::saved) continue;
    saved[graph[plan[id].layer].name] = plan[id].bytes.value;
  }
  EXPECT_EQ(saved.at("block2_attention"), 4 * of.a * of.s * of.b);
  EXPECT_FALSE(saved.contains("block2_attention_dropout"));
}

}  // namespace
}  // namespace strata
