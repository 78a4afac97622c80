#include "sim/graph/zoo_keys.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/ops/limits.h"
#include "sim/text/split.h"

namespace strata {
namespace {

using Spec = TransformerSpec;
using Keys = std::vector<SpecKey>;

SpecKey size_key(std::string_view name, std::int64_t Spec::*member) {
  return {name, SpecKey::Count{member, true}};
}
SpecKey count_key(std::string_view name, std::int64_t Spec::*member) {
  return {name, SpecKey::Count{member}};
}

SpecKey real(std::string_view name, double Spec::*member, double least, double most) {
  return {name, SpecKey::Real{member, least, most}};
}
SpecKey flag(std::string_view name, bool Spec::*member) {
  return {name, SpecKey::Flag{member}};
}
template <auto member>
SpecKey word(std::string_view name, std::vector<SpecKey::Word::Choice> choices) {
  return {name, SpecKey::Word{std::move(choices), [](Spec& spec, int value) {
                                using Value = std::remove_cvref_t<decltype(spec.*member)>;
                                spec.*member = static_cast<Value>(value);
                              }}};
}
template <class Value>
SpecKey::Word::Choice choice(std::string_view word, Value value) {
  return {word, static_cast<int>(value)};
}
template <class Value>
SpecKey::Word::Choice alias(std::string_view word, Value value) {
  return {word, static_cast<int>(value), true};
}

constexpr double kMostScale = 1e12;

SpecKey qk_norm_key() {
  return word<&Spec::qk_norm>(
      "qk_norm", {choice("none", QkNorm::none), choice("head", QkNorm::head),
                  choice("full", QkNorm::full), alias("0", QkNorm::none), alias("1", QkNorm::head),
                  alias("false", QkNorm::none), alias("true", QkNorm::head)});
}

SpecKey activation_key() {
  return word<&Spec::activation>(
      "act",
      {choice("gelu", FeedForward::gelu), choice("relu", FeedForward::relu),
       choice("relu2", FeedForward::relu2), choice("swiglu", FeedForward::swiglu),
       choice("geglu", FeedForward::geglu), choice("clamped_swiglu", FeedForward::clamped_swiglu)});
}

/// What dense decoders differ in.
Keys of_decoders() {
  return {
      count_key("kv_heads", &Spec::kv_heads),
      count_key("head_dim", &Spec::head_dim),
      activation_key(),
      word<&Spec::bias>("bias", {choice("none", BiasPlace::none), choice("qkv", BiasPlace::qkv),
                                 choice("attention", BiasPlace::attention),
                                 choice("ffn", BiasPlace::ffn), choice("all", BiasPlace::all)}),
      word<&Spec::norm>("norm", {choice("rms", NormKind::rms), choice("layer", NormKind::layer)}),
      real("epsilon", &Spec::epsilon, 0, 1),
      word<&Spec::norm_place>(
          "norms", {choice("before", NormPlace::before), choice("after", NormPlace::after),
                    choice("both", NormPlace::both)}),
      word<&Spec::parallel>(
          "parallel", {choice("none", ParallelParts::none), choice("shared", ParallelParts::shared),
                       choice("separate", ParallelParts::separate), alias("0", ParallelParts::none),
                       alias("1", ParallelParts::shared)}),
      qk_norm_key(),
      count_key("window", &Spec::window),
      count_key("window_layers", &Spec::window_layers),
      count_key("global_every", &Spec::global_every),
      real("score_scale", &Spec::score_scale, 1e-6, kMostScale),
      real("softcap", &Spec::softcap, 1e-6, kMostScale),
      flag("sinks", &Spec::sinks),
      real("logit_softcap", &Spec::logit_softcap, 1e-6, kMostScale),
      flag("scale_embedding", &Spec::scale_embedding),
      flag("tied", &Spec::tied),
      flag("head_bias", &Spec::head_bias)};
}
/// What mixtures of experts have in place of a feed-forward layer.
Keys of_experts() {
  return {count_key("experts", &Spec::experts),
          count_key("topk", &Spec::top_k),
          count_key("moe_ffn", &Spec::expert_ffn),
          count_key("shared_ffn", &Spec::shared_ffn),
          count_key("moe_layers", &Spec::expert_layers),
          flag("norm_topk", &Spec::normalize_gates),
          word<&Spec::scoring>("scoring", {choice("softmax", Scoring::softmax),
                                           choice("sigmoid", Scoring::sigmoid)}),
          count_key("groups", &Spec::expert_groups),
          count_key("topk_groups", &Spec::chosen_groups),
          real("routed_scale", &Spec::gate_scale, 1e-6, kMostScale),
          flag("correction_bias", &Spec::choice_correction),
          flag("shared_gate", &Spec::gated_shared),
          flag("expert_bias", &Spec::expert_bias),
          flag("router_bias", &Spec::router_bias),
          real("capacity", &Spec::capacity, 1e-6, kMostScale),
          count_key("token_groups", &Spec::token_groups)};
}
/// What latent attentions have, of rotary positions.
Keys of_latents() {
  return {word<&Spec::attention>("attention", {choice("gqa", AttentionKind::grouped),
                                               choice("mla", AttentionKind::latent)}),
          count_key("q_lora_rank", &Spec::query_rank),
          count_key("kv_lora_rank", &Spec::kv_rank),
          count_key("qk_nope_dim", &Spec::own_key_dim),
          count_key("qk_rope_dim", &Spec::shared_key_dim),
          count_key("v_head_dim", &Spec::value_dim)};
}
Keys of_rotary_positions() {
  return {real("rope_base", &Spec::rope_base, 1, kMostScale),
          real("rope_share", &Spec::rope_share, 1e-6, 1),
          real("window_rope_base", &Spec::window_rope_base, 1, kMostScale)};
}

Keys of_blocks() {
  return {size_key("layers", &Spec::layers), size_key("hidden", &Spec::hidden),
          size_key("heads", &Spec::heads)};
}
Keys joined(Keys keys, const Keys& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}
// Every family's last keys.
Keys with_ffn_and_dropout(const Keys& keys, const Keys& more = {}) {
  const Keys ffn = joined(keys, {count_key("ffn", &Spec::ffn)});
  return joined(joined(ffn, more), {{"dropout", SpecKey::Probability{&Spec::dropout}}});
}
Keys of_tokens() {
  return joined(of_blocks(), {size_key("seq", &Spec::seq), size_key("vocab", &Spec::vocab)});
}
Keys of_images() {
  return joined(of_blocks(), {size_key("image", &Spec::image), size_key("patch", &Spec::patch),
                              size_key("classes", &Spec::classes)});
}

/// The number that is all of the text.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

/// One key's value, as `text` has it.
struct ValueReader {
  std::string_view model, name, text;
  Spec& spec;

  [[noreturn]] void fail(std::string_view expected) const {
    throw InputError(
        fmt::format("model '{}': {} must be {}, not '{}'", model, name, expected, text));
  }
  void operator()(const SpecKey::Count& key) const {
    const auto value = number_in<std::int64_t>(text);
    if (!value || *value < 1 || *value > kMaxExtent) {
      fail(fmt::format("an integer from 1 to {}", kMaxExtent));
    }
    spec.*key.member = *value;
  }
  void operator()(const SpecKey::Real& key) const {
    const auto value = number_in<double>(text);
    if (!value || !(*value >= key.least && *value <= key.most)) {
      fail(fmt::format("a number from {:g} to {:g}", key.least, key.most));
    }
    spec.*key.member = *value;
  }
  void operator()(const SpecKey::Flag& key) const {
    const bool yes = text == "1" || text == "true";
    if (!yes && text != "0" && text != "false") fail("1 or 0");
    spec.*key.member = yes;
  }
  void operator()(const SpecKey::Word& key) const {
    const auto found =
        std::ranges::find_if(key.choices, [&](const auto& each) { return each.word == text; });
    if (found != key.choices.end()) return key.set(spec, found->value);
    std::string words;
    for (const SpecKey::Word::Choice& each : key.choices) {
      if (each.alias) continue;
      words += words.empty() ? "" : ", ";
      words += each.word;
    }
    fail("one of " + words);
  }
  void operator()(const SpecKey::Probability& key) const {
    const auto value = number_in<double>(text);
    if (!value || !(*value >= 0 && *value < 1)) fail("a number from 0 to below 1");
    spec.*key.member = *value;
  }
};

void check_window(std::string_view model, const Spec& spec) {
  const auto fail = [&](std::string_view what) {
    throw InputError(fmt::format("model '{}': {}", model, what));
  };
  const bool chooses = spec.window_layers > 0 || spec.global_every > 0;
  if (chooses && spec.window == 0) fail("window_layers and global_every need window");
  if (spec.window_rope_base > 0 && spec.window == 0) fail("window_rope_base needs window");
  if (spec.window_layers > spec.layers) {
    fail(fmt::format("window_layers {} is more than layers {}", spec.window_layers, spec.layers));
  }
  if (spec.window_layers > 0 && spec.global_every > 0) {
    fail("window_layers and global_every exclude each other");
  }
}

void check_routing(std::string_view model, const Spec& spec) {
  const auto fail = [&](std::string_view what) {
    throw InputError(fmt::format("model '{}': {}", model, what));
  };
  if (spec.router_bias && spec.choice_correction) {
    fail("router_bias and correction_bias exclude each other");
  }
  if (spec.gated_shared && spec.shared_ffn == 0) fail("shared_gate needs shared_ffn");
  const std::int64_t groups = spec.groups_of_experts();
  if (spec.chosen_groups > groups) {
    fail(fmt::format("topk_groups {} is more than groups {}", spec.chosen_groups, groups));
  }
  if (spec.experts % groups != 0) {
    fail(fmt::format("groups {} do not divide experts {}", groups, spec.experts));
  }
  const std::int64_t of_group = spec.experts / groups;
  const std::int64_t best = spec.chosen_groups > 0 ? spec.chosen_groups : groups;
  if (spec.chosen_experts() > best * of_group) {
    fail(fmt::format("topk {} is more than the {} experts of {} groups", spec.chosen_experts(),
                     best * of_group, best));
  }
  if (spec.choice_correction && groups > 1 && of_group < 2) {
    fail("correction_bias needs groups of two experts or more");
  }
}

void check_experts(std::string_view model, const Spec& spec) {
  const auto fail = [&](std::string_view what) {
    throw InputError(fmt::format("model '{}': {}", model, what));
  };
  const bool describes = spec.top_k > 0 || spec.expert_ffn > 0 || spec.shared_ffn > 0 ||
                         spec.expert_layers > 0 || spec.token_groups > 0 || spec.capacity != 1 ||
                         !spec.normalize_gates || spec.scoring != Scoring::softmax ||
                         spec.expert_groups > 0 || spec.chosen_groups > 0 || spec.gate_scale != 1 ||
                         spec.choice_correction || spec.gated_shared || spec.expert_bias ||
                         spec.router_bias;
  if (describes && spec.experts == 0) {
    fail(
        "topk, moe_ffn, shared_ffn, moe_layers, norm_topk, scoring, groups, topk_groups, "
        "routed_scale, correction_bias, shared_gate, expert_bias, router_bias, capacity and "
        "token_groups need experts");
  }
  if (spec.experts == 0) return;
  if (spec.chosen_experts() > spec.experts) {
    fail(fmt::format("topk {} is more than experts {}", spec.chosen_experts(), spec.experts));
  }
  if (spec.expert_layers > spec.layers) {
    fail(fmt::format("moe_layers {} is more than layers {}", spec.expert_layers, spec.layers));
  }
  if (spec.token_groups > 0 && spec.seq % spec.token_groups != 0) {
    fail(fmt::format("token_groups {} do not divide seq {}", spec.token_groups, spec.seq));
  }
  check_routing(model, spec);
}

void check_latent(std::string_view model, const Spec& spec) {
  const auto fail = [&](std::string_view what) {
    throw InputError(fmt::format("model '{}': {}", model, what));
  };
  const bool describes =
      spec.query_rank > 0 || spec.own_key_dim > 0 || spec.shared_key_dim > 0 || spec.value_dim > 0;
  if (spec.attention == AttentionKind::latent || describes) {
    if (!spec.is_latent()) {
      fail("attention=mla, q_lora_rank, qk_nope_dim, qk_rope_dim and v_head_dim need kv_lora_rank");
    }
  }
  if (!spec.is_latent()) return;
  if (spec.attention == AttentionKind::grouped) fail("kv_lora_rank needs attention=mla");
  if (spec.own_key_dim == 0 || spec.shared_key_dim == 0 || spec.value_dim == 0) {
    fail("kv_lora_rank needs qk_nope_dim, qk_rope_dim and v_head_dim");
  }
  if (spec.shared_key_dim % 2 != 0) {
    fail(fmt::format("qk_rope_dim {} is not even: rotary positions turn pairs",
                     spec.shared_key_dim));
  }
  if (spec.head_dim > 0 || spec.kv_heads > 0 || spec.qk_norm != QkNorm::none ||
      spec.rope_share < 1) {
    fail("head_dim, kv_heads, qk_norm and rope_share do not go with kv_lora_rank");
  }
}

bool lacks(const Spec& spec, const SpecKey& key) {
  const auto* count = std::get_if<SpecKey::Count>(&key.field);
  return count != nullptr && count->required && spec.*count->member == 0;
}

}  // namespace

std::span<const SpecKey> gpt_keys() {
  static const Keys kKeys = with_ffn_and_dropout(
      of_tokens(),
      joined(joined({count_key("positions", &Spec::positions)}, of_decoders()), of_experts()));
  return kKeys;
}

std::span<const SpecKey> llama_keys() {
  static const Keys kKeys = with_ffn_and_dropout(
      of_tokens(),
      joined(joined(joined(of_decoders(), of_latents()), of_rotary_positions()), of_experts()));
  return kKeys;
}

std::span<const SpecKey> bert_keys() {
  static const Keys kKeys =
      with_ffn_and_dropout(of_tokens(), {count_key("positions", &Spec::positions)});
  return kKeys;
}

std::span<const SpecKey> vit_keys() {
  static const Keys kKeys = with_ffn_and_dropout(of_images());
  return kKeys;
}

std::span<const SpecKey> t5_keys() {
  static const Keys kKeys = with_ffn_and_dropout(
      of_tokens(),
      {count_key("decoder_layers", &Spec::decoder_layers),
       count_key("target_seq", &Spec::target_seq), count_key("head_dim", &Spec::head_dim),
       activation_key(), real("epsilon", &Spec::epsilon, 0, 1), flag("tied", &Spec::tied),
       count_key("buckets", &Spec::buckets), count_key("max_distance", &Spec::max_distance)});
  return kKeys;
}

std::span<const SpecKey> whisper_keys() {
  static const Keys kKeys = with_ffn_and_dropout(
      of_tokens(), {count_key("decoder_layers", &Spec::decoder_layers),
                    count_key("target_seq", &Spec::target_seq),
                    count_key("positions", &Spec::positions), count_key("mels", &Spec::mels)});
  return kKeys;
}

std::string names_of(std::span<const SpecKey> keys) {
  std::string names;
  for (const SpecKey& key : keys) {
    names += names.empty() ? "" : ", ";
    names += key.name;
  }
  return names;
}

void read_keys(std::string_view model, std::string_view family, std::span<const SpecKey> keys,
               std::string_view text, TransformerSpec& spec) {
  std::set<std::string_view> given;
  for (std::string_view item : split(text, ',')) {
    if (item.empty() && item.data() + item.size() == text.data() + text.size()) continue;
    const std::size_t equals = item.find('=');
    const std::string_view name = item.substr(0, equals);
    const auto key =
        std::ranges::find_if(keys, [&](const SpecKey& known) { return known.name == name; });
    if (equals != std::string_view::npos && !given.insert(name).second) {
      throw InputError(fmt::format("model '{}': {} is given twice", model, name));
    }
    if (equals == std::string_view::npos || key == keys.end()) {
      throw InputError(
          fmt::format("model '{}': '{}' is no key of {}; allowed: {}, each as KEY=VALUE", model,
                      item, family, names_of(keys)));
    }
    std::visit(ValueReader{model, name, item.substr(equals + 1), spec}, key->field);
  }
}

void check_spec(std::string_view model, std::span<const SpecKey> keys,
                const TransformerSpec& spec) {
  const auto missing =
      std::ranges::find_if(keys, [&](const SpecKey& key) { return lacks(spec, key); });
  if (missing != keys.end()) {
    throw InputError(fmt::format("model '{}': {} is missing", model, missing->name));
  }
  check_latent(model, spec);
  if (!spec.is_latent() && spec.head_dim == 0 && spec.hidden % spec.heads != 0) {
    throw InputError(fmt::format("model '{}': hidden {} is no multiple of heads {}", model,
                                 spec.hidden, spec.heads));
  }
  if (spec.heads % spec.key_heads() != 0) {
    throw InputError(fmt::format("model '{}': heads {} is no multiple of kv_heads {}", model,
                                 spec.heads, spec.kv_heads));
  }
  check_window(model, spec);
  check_experts(model, spec);
  if (spec.rope_share < 1 && (spec.turned_channels() < 2 || spec.turned_channels() % 2 != 0)) {
    throw InputError(fmt::format(
        "model '{}': rope_share {} turns {} of a head's {} channels, which are no pairs", model,
        spec.rope_share, spec.turned_channels(), spec.head_size()));
  }
  if (spec.parallel != ParallelParts::none && spec.norm_place != NormPlace::before) {
    throw InputError(fmt::format("model '{}': parallel parts need norms=before", model));
  }
  if (spec.tied && spec.head_bias) {
    throw InputError(fmt::format("model '{}': head_bias needs tied=0", model));
  }
  if (spec.patch > spec.image) {
    throw InputError(
        fmt::format("model '{}': patch {} is larger than image {}", model, spec.patch, spec.image));
  }
}

}  // namespace strata
