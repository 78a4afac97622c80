#include "tests/exec/reference/op_cases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <ostream>
#include <string_view>
#include <tuple>
#include <utility>

#include "sim/base/error.h"
#include "tests/exec/reference/reference.h"

namespace strata::reference {
namespace {

constexpr std::array<std::int64_t, 6> kHeadSizes = {2, 4, 6, 8, 16, 20};

/// An rms_norm of heads; a router in groups; a latent attention; attentions whose heads have
/// parameters; what experts have with biases.
constexpr std::string_view kHeadNorm = "rms_norm_heads", kGroupedRouter = "router_groups",
                           kLatent = "attention_latent", kSinks = "attention_sinks",
                           kBuckets = "attention_buckets", kBiasedRouter = "router_bias",
                           kBiasedExperts = "expert_linear_bias";

/// Values drawn for one layer.
struct Draw {
  int rank;
  std::int64_t most_channels;
  std::mt19937_64& random;

  std::int64_t count(std::int64_t low, std::int64_t high) const {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  }
  bool flag() const { return count(0, 1) == 1; }
  double real(double low, double high) const {
    return std::uniform_real_distribution<double>(low, high)(random);
  }

  /// The dims that data of this rank has: w; h, w; d, h, w.
  std::vector<Dim> dims() const { return {kSpatialDims.end() - rank, kSpatialDims.end()}; }

  Extents sample() const {
    Extents e = {{1, count(1, most_channels), 1, 1, 1}};
    for (Dim dim : dims()) e[dim] = count(4, rank == 3 ? 6 : 9);
    return e;
  }

  Convolution convolution() const {
    Convolution op{rank, 0, {}, std::array<std::int64_t, 3>{1, 2, 3}[count(0, 2)], flag()};
    op.out_channels = op.groups * count(1, most_channels / op.groups);
    for (Dim dim : dims()) {
      op.windows[dim] = {count(1, 3), count(1, 3), count(0, 2), count(0, 2), count(1, 2)};
    }
    return op;
  }
  Pooling pooling(PoolMode mode) const {
    Pooling op{rank, mode, {}, flag(), mode == PoolMode::max || flag()};
    for (Dim dim : dims()) {
      const std::int64_t kernel = count(1, 4), pad = kernel / 2;
      op.windows[dim] = {kernel, count(1, 3), count(0, pad), count(0, pad)};
      if (mode == PoolMode::max && kernel == 3) op.windows[dim].dilation = count(1, 2);
    }
    return op;
  }
  AdaptivePooling adaptive(PoolMode mode) const {
    return {rank, mode, count(1, 7), count(1, 7), count(1, 7)};
  }
  Activation activation(ActivationKind kind) const {
    Activation op{kind};
    if (kind == ActivationKind::leaky_relu || kind == ActivationKind::elu) {
      op.slope = real(0.05, 1.5);
    }
    return op;
  }
  Linear linear() const { return {count(1, most_channels), flag()}; }
  Attention attention() const {
    const bool causal = flag();
    return {head_size(), causal, causal && flag() ? count(1, 6) : 0, flag() ? real(2, 10000) : 0,
            flag() ? real(0, 0.9) : 0};
  }
  /// Of keys that share channels; draw_latent() has tensors of the sizes.
  Attention latent_attention() const {
    const bool causal = flag();
    Attention op{.causal = causal,
                 .window = causal && flag() ? count(1, 6) : 0,
                 .rotary = flag() ? real(2, 10000) : 0,
                 .dropout = flag() ? real(0, 0.9) : 0,
                 .scale = flag() ? real(0.1, 1) : 0,
                 .softcap = flag() ? real(0.5, 5) : 0};
    std::tie(op.head_size, op.shared_size, op.value_size) = latent_sizes();
    return op;
  }
  Attention attention_with_sinks() const {
    Attention op = attention();
    op.sinks = true;
    if (flag()) op.softcap = real(0.5, 5);
    return op;
  }
  /// A query sees two keys or more, so that gradients of what is added to them are not all zero.
  Attention attention_with_buckets() const {
    const bool causal = flag();
    const std::int64_t buckets = 2 * count(causal ? 1 : 2, 4);
    return {.head_size = head_size(),
            .causal = causal,
            .window = causal && flag() ? count(2, 6) : 0,
            .dropout = flag() ? real(0, 0.9) : 0,
            .scale = real(0.1, 1),
            .buckets = buckets,
            .max_distance = buckets / 2 + count(1, 6)};
  }
  Router router_with_bias() const {
    Router op = router();
    op.sigmoid = flag(), op.bias = true;
    return op;
  }
  /// Of a head of queries, of what keys share, of a head of values.
  std::tuple<std::int64_t, std::int64_t, std::int64_t> latent_sizes() const {
    constexpr std::array<std::array<std::int64_t, 3>, 4> kSizes = {
        {{6, 2, 4}, {20, 4, 8}, {10, 6, 20}, {24, 16, 8}}};
    const auto& [head, shared, value] = kSizes[static_cast<std::size_t>(count(0, 3))];
    return {head, shared, value};
  }
  /// Of tokens in groups, of which there are as many in some drawn sequence.
  std::int64_t groups() const { return count(1, 3); }
  Router router() const {
    Router op{count(1, 9), 1, flag()};
    op.top_k = count(1, op.experts);
    return op;
  }
  /// In groups, with scores of their own.
  Router grouped_router() const {
    const std::int64_t groups = count(1, 4), size = count(2, 4), best = count(1, groups);
    return {groups * size, count(2, best * size), flag(), flag(), flag(), groups,
            best,          real(0.5, 3)};
  }
  Dispatch dispatch() const { return {count(1, 3), groups(), real(0.3, 2)}; }
  /// What few ops have, so that the values of the others are drawn as ever.
  Op with_more(Op op) const {
    if (auto* attention = std::get_if<Attention>(&op)) {
      if (attention->rotary > 0 && flag()) {
        attention->rotary_size = 2 * count(1, attention->head_size / 2);
      }
      if (flag()) attention->scale = real(0.1, 1);
      if (flag()) attention->softcap = real(0.5, 5);
    } else if (auto* embedding = std::get_if<Embedding>(&op)) {
      if (flag()) embedding->scale = real(0.5, 8);
    } else if (auto* activation = std::get_if<Activation>(&op)) {
      if (activation->kind == ActivationKind::softcap) activation->slope = real(0.5, 5);
    }
    return op;
  }
  std::int64_t head_size() const { return kHeadSizes[static_cast<std::size_t>(count(0, 5))]; }
  LocalResponseNorm norm() const {
    return {count(1, 6), real(0.01, 1), real(0.3, 1.2), real(0.5, 2)};
  }
};

/// Every op, in the order of the variant, of rank `rank` where it has one.
std::vector<Op> every_op(const Draw& draw) {
  std::vector<Op> ops = {draw.convolution(),
                         draw.pooling(PoolMode::max),
                         draw.pooling(PoolMode::average),
                         draw.adaptive(PoolMode::max),
                         draw.adaptive(PoolMode::average),
                         FullyConnected{draw.count(1, 20), draw.flag()},
                         BatchNorm{draw.real(1e-5, 0.1)},
                         LayerNorm{draw.real(1e-5, 0.1), draw.flag()},
                         RmsNorm{draw.real(1e-5, 0.1)},
                         draw.linear(),
                         draw.norm(),
                         Dropout{draw.real(0, 0.9)},
                         Concat{},
                         Add{},
                         Multiply{},
                         GatedActivation{GateKind::silu},
                         GatedActivation{GateKind::gelu},
                         draw.attention(),
                         Embedding{draw.count(2, 40), draw.count(1, draw.most_channels)},
                         PositionEmbedding{draw.flag() ? 0 : draw.count(9, 12)},
                         Tokens{},
                         ClassToken{},
                         SelectToken{draw.count(0, 3)},
                         Flatten{},
                         SoftmaxCrossEntropy{}};
  for (std::size_t k = 0; k < kActivationKinds; ++k) {
    ops.emplace_back(draw.activation(static_cast<ActivationKind>(k)));
  }
  ops.emplace_back(draw.router());
  ops.emplace_back(draw.dispatch());
  ops.emplace_back(ExpertLinear{draw.count(1, draw.most_channels)});
  ops.emplace_back(Combine{draw.groups()});
  ops.emplace_back(GatedActivation{GateKind::clamped, draw.real(0.5, 2), draw.real(0.5, 2)});
  return ops;
}

bool is_named(const OpCase& c, const Op& op) {
  return c.name == name(op) || (c.name == "add_twice" && std::holds_alternative<Add>(op)) ||
         (c.name.starts_with("multiply_") && std::holds_alternative<Multiply>(op)) ||
         (c.name == "concat_one" && std::holds_alternative<Concat>(op));
}

Op draw_op(const OpCase& c, const Draw& draw) {
  if (c.name == kHeadNorm) return RmsNorm{draw.real(1e-5, 0.1), draw.head_size()};
  if (c.name == kGroupedRouter) return draw.grouped_router();
  if (c.name == kLatent) return draw.latent_attention();
  if (c.name == kSinks) return draw.attention_with_sinks();
  if (c.name == kBuckets) return draw.attention_with_buckets();
  if (c.name == kBiasedRouter) return draw.router_with_bias();
  if (c.name == kBiasedExperts) return ExpertLinear{draw.count(1, draw.most_channels), true};
  const std::vector<Op> ops = every_op(draw);
  const auto it =
      std::find_if(ops.begin(), ops.end(), [&](const Op& op) { return is_named(c, op); });
  if (it == ops.end()) throw InternalError("no op is named " + c.name);
  return draw.with_more(*it);
}

/// Queries, keys and values of whole heads of any size: infer_output() refuses those of others.
std::vector<LayerId> draw_heads(const Draw& draw, GraphBuilder& builder) {
  const std::int64_t size = draw.head_size();
  const std::int64_t heads = draw.count(1, 2), group = draw.count(1, 3), tokens = draw.count(3, 9);
  const Extents queries = {{1, heads * group * size, 1, 1, tokens}};
  const Extents keys = {{1, heads * size, 1, 1, draw.flag() ? tokens : draw.count(3, 9)}};
  return {builder.add("x0", Input{queries}, {}), builder.add("x1", Input{keys}, {}),
          builder.add("x2", Input{keys}, {})};
}

/// The same, and what keys share.
std::vector<LayerId> draw_latent(const Draw& draw, GraphBuilder& builder) {
  const auto [size, shared, value] = draw.latent_sizes();
  const std::int64_t heads = draw.count(1, 2), group = draw.count(1, 3), tokens = draw.count(3, 9);
  const std::int64_t keys = draw.flag() ? tokens : draw.count(3, 9);
  const auto add = [&](const char* name, std::int64_t channels, std::int64_t positions) {
    return builder.add(name, Input{{{1, channels, 1, 1, positions}}}, {});
  };
  return {add("x0", heads * group * size, tokens), add("x1", heads * (size - shared), keys),
          add("x2", heads * value, keys), add("x3", shared, keys)};
}

/// Tokens or slots, and gates that choose experts: infer_output() refuses groups that do not
/// divide.
std::vector<LayerId> draw_experts(const OpCase& c, const Draw& draw, GraphBuilder& builder) {
  const std::int64_t experts = draw.count(3, 9), channels = draw.count(1, c.most_channels);
  const Extents gates = {{1, experts, 1, 1, 6 * draw.count(1, 2)}};
  Extents first = {{1, channels, experts, 1, 6 * draw.count(1, 2)}};
  if (c.name == "dispatch") first = {{1, channels, 1, 1, gates[Dim::w]}};
  const LayerId x = builder.add("x0", Input{first}, {});
  if (c.name.starts_with("expert_linear")) return {x};
  return {x, builder.add("x1", Input{gates}, {})};
}

bool moves_to_experts(const OpCase& c) {
  return c.name == "dispatch" || c.name == "combine" || c.name.starts_with("expert_linear");
}

/// What a layer of the case reads, appended to the builder.
std::vector<LayerId> draw_sources(const OpCase& c, const Draw& draw, GraphBuilder& builder) {
  if (c.name == "attention" || c.name == kSinks || c.name == kBuckets) {
    return draw_heads(draw, builder);
  }
  if (c.name == kLatent) return draw_latent(draw, builder);
  if (moves_to_experts(c)) return draw_experts(c, draw, builder);
  Extents e = draw.sample();
  if (c.name == "embedding") e[Dim::c] = 1;
  if (c.name == kHeadNorm) e[Dim::c] = draw.head_size() * draw.count(1, 4);
  if (c.name == "softmax_cross_entropy")
    e = {{1, draw.count(1, 20), 1, 1, draw.flag() ? 1 : draw.count(2, 9)}};
  // Groups of a convolution divide the channels only if they have the divisors.
  if (c.name.starts_with("conv")) e[Dim::c] = 6 * draw.count(1, c.most_channels / 6);
  std::vector<LayerId> sources = {builder.add("x0", Input{e}, {})};
  if (c.name == "add_twice" || c.name == "multiply_twice") return {sources[0], sources[0]};
  if (c.name == "swiglu" || c.name == "geglu" || c.name == "clamped_swiglu") {
    return {sources[0], builder.add("x1", Input{e}, {})};
  }
  if (c.name.starts_with("multiply")) {
    if (c.name == "multiply_gate") e = {{1, e[Dim::c], 1, 1, 1}};
    if (c.name == "multiply_places") e[Dim::c] = 1;
    return {sources[0], builder.add("x1", Input{e}, {})};
  }
  if (c.name != "add" && c.name != "concat") return sources;
  for (const char* name : {"x1", "x2"}) {
    if (c.name == "concat") e[Dim::c] = draw.count(1, c.most_channels);
    sources.push_back(builder.add(name, Input{e}, {}));
  }
  return sources;
}

bool takes_maxima(const Op& op) {
  const auto* pool = std::get_if<Pooling>(&op);
  const auto* adaptive = std::get_if<AdaptivePooling>(&op);
  return (pool != nullptr && pool->mode == PoolMode::max) ||
         (adaptive != nullptr && adaptive->mode == PoolMode::max);
}

/// A permutation of evenly spaced values in [-2, 2).
void draw_distinct(Tensor& x, std::mt19937_64& random) {
  std::iota(x.values.begin(), x.values.end(), 0.0);
  std::shuffle(x.values.begin(), x.values.end(), random);
  for (double& value : x.values) value = 4 * value / static_cast<double>(x.size()) - 2;
}

/// Far enough out to meet the flat parts of every activation, and off the kinks at 0, 6 and +-3.
double draw_smooth(std::mt19937_64& random) {
  std::uniform_real_distribution<double> draw(-8, 8);
  const auto near_kink = [](double x) {
    constexpr std::array<double, 4> kKinks = {-3, 0, 3, 6};
    return std::any_of(kKinks.begin(), kKinks.end(),
                       [&](double kink) { return std::abs(x - kink) < 1e-3; });
  };
  double x = draw(random);
  while (near_kink(x)) x = draw(random);
  return x;
}

}  // namespace

void PrintTo(const OpCase& c, std::ostream* out) {
  *out << title(c);
}

std::string title(const OpCase& c) {
  const std::string rank = std::to_string(c.rank) + "d";
  return c.name.ends_with(rank) ? c.name : c.name + "_" + rank;
}

std::vector<OpCase> all_ops() {
  std::mt19937_64 random(1);
  std::vector<OpCase> cases;
  for (int rank = 1; rank <= 3; ++rank) {
    for (const Op& op : every_op({rank, 9, random})) cases.push_back({std::string(name(op)), rank});
    cases.push_back({"add_twice", rank});
    cases.push_back({"multiply_twice", rank});
    cases.push_back({"multiply_gate", rank});
    cases.push_back({"multiply_places", rank});
    cases.push_back({"concat_one", rank});
    cases.push_back({std::string(kHeadNorm), rank});
    cases.push_back({std::string(kGroupedRouter), rank});
    cases.push_back({std::string(kLatent), rank});
    cases.push_back({std::string(kSinks), rank});
    cases.push_back({std::string(kBuckets), rank});
    cases.push_back({std::string(kBiasedRouter), rank});
    cases.push_back({std::string(kBiasedExperts), rank});
  }
  // These read (n, c, w) alone.
  constexpr std::array<std::string_view, 16> kSequences = {"softmax_cross_entropy",
                                                           "attention",
                                                           "embedding",
                                                           "position_embedding",
                                                           "class_token",
                                                           "router",
                                                           "select_token",
                                                           "dispatch",
                                                           "expert_linear",
                                                           "combine",
                                                           kGroupedRouter,
                                                           kLatent,
                                                           kSinks,
                                                           kBuckets,
                                                           kBiasedRouter,
                                                           kBiasedExperts};
  std::erase_if(cases, [&](const OpCase& c) {
    return c.rank != 1 &&
           std::find(kSequences.begin(), kSequences.end(), c.name) != kSequences.end();
  });
  return cases;
}

Graph draw_layer(const OpCase& c, std::mt19937_64& random) {
  const Draw draw{c.rank, c.most_channels, random};
  GraphBuilder builder("one-layer", draw.count(1, 4));
  std::vector<LayerId> sources = draw_sources(c, draw, builder);
  builder.add("y", draw_op(c, draw), std::move(sources));
  return std::move(builder).build();
}

Graph draw_fitting_layer(const OpCase& c, std::mt19937_64& random) {
  while (true) {
    try {
      return draw_layer(c, random);
    } catch (const InputError&) {
      continue;  // a window larger than its data
    }
  }
}

std::vector<Tensor> draw_inputs(const Graph& graph, std::mt19937_64& random) {
  const Op& op = graph[LayerId(graph.size() - 1)].op;
  std::vector<Tensor> inputs;
  for (std::size_t l = 0; l + 1 < graph.size(); ++l) {
    Tensor& x = inputs.emplace_back(random_input(graph, LayerId(l), -2, 2, random));
    if (takes_maxima(op)) {
      draw_distinct(x, random);
    } else if (std::holds_alternative<Activation>(op)) {
      std::generate(x.values.begin(), x.values.end(), [&] { return draw_smooth(random); });
    }
  }
  return inputs;
}

}  // namespace strata::reference
