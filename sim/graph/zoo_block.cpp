#include "sim/graph/zoo_block.h"

#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace strata {

LayerId TransformerNet::tokens() {
  const LayerId numbers = net_.input(1, 1, spec_.seq);
  const double scale = spec_.scale_embedding ? std::sqrt(static_cast<double>(spec_.hidden)) : 1;
  return net_.add("embedding", Embedding{spec_.vocab, spec_.hidden, scale}, numbers);
}

LayerId TransformerNet::target_tokens(const std::string& embedding, const std::string& weight_of) {
  const std::int64_t tokens = spec_.target_seq > 0 ? spec_.target_seq : spec_.seq;
  const LayerId numbers = net_.join("target", Input{{{1, 1, 1, 1, tokens}}}, {});
  return net_.add(embedding, Embedding{spec_.vocab, spec_.hidden, 1, weight_of}, numbers);
}

LayerId TransformerNet::sound() {
  LayerId at = net_.input(spec_.mels, 1, spec_.seq);
  for (const std::int64_t stride : {1, 2}) {
    const std::string name = fmt::format("conv{}", stride);
    Windows windows;
    windows.w = {3, stride, 1, 1};
    at = net_.add(name, Convolution{1, spec_.hidden, windows, 1, true}, at);
    at = net_.add(name + "_act", Activation{ActivationKind::gelu}, at);
  }
  return at;
}

LayerId TransformerNet::norm(const std::string& name, LayerId from) {
  if (spec_.norm == NormKind::rms) return net_.add(name, RmsNorm{spec_.epsilon}, from);
  return net_.add(name, LayerNorm{spec_.epsilon, true}, from);
}

LayerId TransformerNet::dropout(const std::string& name, LayerId from) {
  return spec_.dropout > 0 ? net_.add(name, Dropout{spec_.dropout}, from) : from;
}

LayerId TransformerNet::linear(const std::string& name, LayerId from, std::int64_t features,
                               bool bias) {
  return net_.add(name, Linear{features, bias}, from);
}

LayerId TransformerNet::blocks(LayerId from) {
  return blocks({"", spec_.layers, spec_.causal}, from);
}

LayerId TransformerNet::blocks(const BlockStack& stack, LayerId from) {
  for (std::int64_t number = 0; number < stack.layers; ++number) {
    from = block({&stack, number, fmt::format("{}block{}_", stack.prefix, number + 1)}, from);
  }
  return from;
}

LayerId TransformerNet::block(const BlockPlace& place, LayerId from) {
  return spec_.parallel == ParallelParts::none ? in_turn(place, from) : side_by_side(place, from);
}

LayerId TransformerNet::in_turn(const BlockPlace& place, LayerId from) {
  from = with_residual(place, "attention", from, &TransformerNet::attention);
  if (place.stack->memory.valid()) {
    from = with_residual(place, "cross_attention", from, &TransformerNet::cross_attention);
  }
  return with_residual(place, "ffn", from, &TransformerNet::feed_forward);
}

LayerId TransformerNet::with_residual(const BlockPlace& place, const std::string& part,
                                      LayerId from, Part inner) {
  const NormPlace norms = spec_.norm_place;
  const std::string name = place.prefix + part;
  const bool before = norms == NormPlace::before || norms == NormPlace::both;
  LayerId out = (this->*inner)(place, before ? norm(name + "_norm", from) : from);
  if (norms == NormPlace::after || norms == NormPlace::both) out = norm(name + "_post_norm", out);
  out = dropout(name + "_dropout", out);
  const LayerId sum = net_.join(name + "_add", Add{}, {from, out});
  return norms == NormPlace::sums ? norm(name + "_norm", sum) : sum;
}

LayerId TransformerNet::side_by_side(const BlockPlace& place, LayerId from) {
  const std::string& prefix = place.prefix;
  const bool shared = spec_.parallel == ParallelParts::shared;
  const LayerId in = norm(prefix + (shared ? "norm" : "attention_norm"), from);
  const LayerId attended = dropout(prefix + "attention_dropout", attention(place, in));
  const LayerId to_ffn = shared ? in : norm(prefix + "ffn_norm", from);
  const LayerId fed = dropout(prefix + "ffn_dropout", feed_forward(place, to_ffn));
  return net_.join(prefix + "add", Add{}, {from, attended, fed});
}

bool TransformerNet::has_bias(BiasPlace part) const {
  return spec_.bias == BiasPlace::all || spec_.bias == BiasPlace::all_but_keys ||
         spec_.bias == part || (spec_.bias == BiasPlace::attention && part == BiasPlace::qkv);
}

Attention TransformerNet::attention_op(const BlockPlace& place) const {
  const bool window = spec_.has_window(place.number);
  Attention op;
  op.head_size = spec_.head_size();
  op.causal = place.stack->causal;
  op.window = window ? spec_.window : 0;
  op.rotary = window && spec_.window_rope_base > 0 ? spec_.window_rope_base : spec_.rope_base;
  op.rotary_size = op.rotary > 0 && spec_.rope_share < 1 ? spec_.turned_channels() : 0;
  op.dropout = spec_.dropout;
  op.scale = spec_.score_scale;
  op.softcap = spec_.softcap;
  op.sinks = spec_.sinks;
  op.buckets = spec_.buckets;
  if (spec_.buckets > 0) op.max_distance = spec_.max_distance;
  if (spec_.buckets > 0 && place.number > 0) op.bias_of = place.stack->prefix + "block1_attention";
  if (spec_.is_latent()) {
    op.value_size = spec_.value_dim;
    op.shared_size = spec_.shared_key_dim;
  }
  return op;
}

LayerId TransformerNet::head_norm(const std::string& name, LayerId from) {
  if (spec_.qk_norm == QkNorm::none) return from;
  const std::int64_t size = spec_.qk_norm == QkNorm::head ? spec_.head_size() : 0;
  return net_.add(name, RmsNorm{spec_.epsilon, size}, from);
}

// Of latent vectors, as DeepSeek's code has it, whatever the other norms'.
constexpr double kLatentEpsilon = 1e-6;

LayerId TransformerNet::latent(const std::string& name, LayerId from, std::int64_t rank) {
  const LayerId down = linear(name, from, rank, has_bias(BiasPlace::qkv));
  return net_.add(name + "_norm", RmsNorm{kLatentEpsilon}, down);
}

// What checkpoints have as one product of the latent vector and the shared key, and as one of keys
// and values, are two each: only the first is normalised, and heads lie side by side.
LayerId TransformerNet::latent_attention(const BlockPlace& place, LayerId from) {
  const std::string& prefix = place.prefix;
  const std::int64_t heads = spec_.heads;
  const bool down = spec_.query_rank > 0;
  const LayerId of_q = down ? latent(prefix + "query_down", from, spec_.query_rank) : from;
  const LayerId q = linear(prefix + "query", of_q, heads * spec_.head_size(), false);
  const LayerId of_kv = latent(prefix + "kv_down", from, spec_.kv_rank);
  const LayerId shared =
      linear(prefix + "key_shared", from, spec_.shared_key_dim, has_bias(BiasPlace::qkv));
  const LayerId k = linear(prefix + "key", of_kv, heads * spec_.own_key_dim, false);
  const LayerId v = linear(prefix + "value", of_kv, heads * spec_.value_dim, false);
  const LayerId seen = net_.join(prefix + "attention", attention_op(place), {q, k, v, shared});
  return linear(prefix + "attention_out", seen, spec_.hidden, has_bias(BiasPlace::attention));
}

LayerId TransformerNet::attention(const BlockPlace& place, LayerId from) {
  if (spec_.is_latent()) return latent_attention(place, from);
  return attention_between(place.prefix, attention_op(place), from, from);
}

LayerId TransformerNet::cross_attention(const BlockPlace& place, LayerId from) {
  Attention op = attention_op(place);
  op.causal = false, op.window = 0, op.buckets = 0, op.bias_of.clear();
  op.max_distance = Attention{}.max_distance;
  return attention_between(place.prefix + "cross_", op, from, place.stack->memory);
}

LayerId TransformerNet::attention_between(const std::string& prefix, const Attention& op,
                                          LayerId from, LayerId memory) {
  const std::int64_t queries = spec_.heads * spec_.head_size();
  const std::int64_t keys = spec_.key_heads() * spec_.head_size();
  const bool bias = has_bias(BiasPlace::qkv);
  const LayerId q = linear(prefix + "query", from, queries, bias);
  const bool of_keys = bias && spec_.bias != BiasPlace::all_but_keys;
  const LayerId k = linear(prefix + "key", memory, keys, of_keys);
  const LayerId v = linear(prefix + "value", memory, keys, bias);
  const LayerId of_q = head_norm(prefix + "query_norm", q);
  const LayerId of_k = head_norm(prefix + "key_norm", k);
  const LayerId seen = net_.join(prefix + "attention", op, {of_q, of_k, v});
  return linear(prefix + "attention_out", seen, spec_.hidden, has_bias(BiasPlace::attention));
}

LayerId TransformerNet::product(const FeedForwardPart& part, const std::string& name, LayerId from,
                                std::int64_t features) {
  if (part.of_experts) {
    return net_.add(part.prefix + name, ExpertLinear{features, spec_.expert_bias}, from);
  }
  return linear(part.prefix + name, from, features, has_bias(BiasPlace::ffn));
}

namespace {

/// Of a feed-forward layer with three products.
std::optional<GateKind> gate_of(FeedForward kind) {
  if (kind == FeedForward::swiglu) return GateKind::silu;
  if (kind == FeedForward::geglu) return GateKind::gelu;
  if (kind == FeedForward::clamped_swiglu) return GateKind::clamped;
  return std::nullopt;
}

}  // namespace

LayerId TransformerNet::activation(const FeedForwardPart& part, LayerId from) {
  const std::string name = part.prefix + "act";
  const FeedForward kind = spec_.activation;
  if (const auto by = gate_of(kind)) {
    const LayerId gate = product(part, "gate", from, part.width);
    const LayerId up = product(part, "up", from, part.width);
    return net_.join(name, GatedActivation{*by}, {gate, up});
  }
  const ActivationKind by = kind == FeedForward::relu    ? ActivationKind::relu
                            : kind == FeedForward::relu2 ? ActivationKind::squared_relu
                                                         : ActivationKind::gelu;
  return net_.add(name, Activation{by}, product(part, "in", from, part.width));
}

LayerId TransformerNet::layer_of_all(const FeedForwardPart& part, LayerId from) {
  return product(part, "out", activation(part, from), spec_.hidden);
}

Router TransformerNet::router() const {
  Router op{spec_.experts, spec_.chosen_experts(), spec_.normalize_gates};
  op.sigmoid = spec_.scoring == Scoring::sigmoid;
  op.correction = spec_.choice_correction;
  op.groups = spec_.groups_of_experts();
  op.top_groups = spec_.chosen_groups > 0 ? spec_.chosen_groups : op.groups;
  op.scale = spec_.gate_scale;
  op.bias = spec_.router_bias;
  return op;
}

LayerId TransformerNet::mixture(const std::string& prefix, LayerId from) {
  const std::int64_t top_k = spec_.chosen_experts(), groups = spec_.groups_of_tokens();
  const LayerId gates = net_.add(prefix + "router", router(), from);
  const LayerId slots =
      net_.join(prefix + "dispatch", Dispatch{top_k, groups, spec_.capacity}, {from, gates});
  const LayerId made = layer_of_all({prefix + "expert_", spec_.expert_width(), true}, slots);
  const LayerId out = net_.join(prefix + "combine", Combine{groups}, {made, gates});
  if (spec_.shared_ffn == 0) return out;
  LayerId shared = layer_of_all({prefix + "shared_", spec_.shared_ffn}, from);
  if (spec_.gated_shared) {
    const LayerId logit = linear(prefix + "shared_open", from, 1, false);
    const LayerId open =
        net_.add(prefix + "shared_sigmoid", Activation{ActivationKind::sigmoid}, logit);
    shared = net_.join(prefix + "shared_gated", Multiply{}, {shared, open});
  }
  return net_.join(prefix + "sum", Add{}, {out, shared});
}

LayerId TransformerNet::feed_forward(const BlockPlace& place, LayerId from) {
  const std::string prefix = place.prefix + "ffn_";
  if (spec_.has_experts(place.number)) return mixture(prefix, from);
  return layer_of_all({prefix, spec_.ffn_width()}, from);
}

}  // namespace strata
