#include "sim/graph/finetuning.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/text/split.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::string_view kLora = "lora", kFrozen = "frozen";
constexpr std::int64_t kMostRank = 1 << 20;
constexpr double kLeastAlpha = 1e-6, kMostAlpha = 1e6;

/// A product by the word for it, and how its layer's name ends: in the zoo, and in files.
struct Target {
  std::string_view word;
  std::array<std::string_view, 4> ends;
};
constexpr std::array<Target, 7> kTargets = {{{"q", {"query", "q_proj"}},
                                             {"k", {"key", "k_proj"}},
                                             {"v", {"value", "v_proj"}},
                                             {"o", {"attention_out", "o_proj"}},
                                             {"gate", {"ffn_gate", "shared_gate", "gate_proj"}},
                                             {"up", {"ffn_up", "ffn_in", "shared_up", "up_proj"}},
                                             {"down", {"ffn_out", "shared_out", "down_proj"}}}};
constexpr std::size_t kOfAttention = 4;

[[noreturn]] void refuse(std::string_view text, std::string_view what) {
  throw InputError(fmt::format("train '{}': {}; allowed: {}", text, what, kFinetuningForms));
}

std::vector<std::string> words(std::size_t count) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) all.emplace_back(kTargets[i].word);
  return all;
}

std::vector<std::string> split_at_plus(std::string_view text, std::string_view whole) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('+', begin), text.size());
    if (end == begin) refuse(whole, "a name is empty");
    names.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::int64_t read_rank(std::string_view text, std::string_view digits) {
  std::int64_t rank = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, rank);
  if (error == std::errc() && stop == end && rank >= 1 && rank <= kMostRank) return rank;
  refuse(text, fmt::format("r must be an integer from 1 to {}, not '{}'", kMostRank, digits));
}

double read_alpha(std::string_view text, std::string_view number) {
  try {
    const double alpha = parse_number(number);
    if (alpha >= kLeastAlpha && alpha <= kMostAlpha) return alpha;
  } catch (const InputError&) {  // said below, with what is allowed
  }
  refuse(text, fmt::format("alpha must be a number from {:g} to {:g}, not '{}'", kLeastAlpha,
                           kMostAlpha, number));
}

WeightFormat read_format(std::string_view text, std::string_view word) {
  if (word == "nf4") return WeightFormat::nf4;
  if (word == "int8") return WeightFormat::int8;
  refuse(text, fmt::format("dtype must be nf4 or int8, not '{}'", word));
}

std::vector<std::string> read_targets(std::string_view text, std::string_view value) {
  if (value == "attention") return words(kOfAttention);
  if (value == "all") return words(kTargets.size());
  return split_at_plus(value, text);
}

// alpha is 2 r where nothing else is said, as most recipes have it.
Lora parse_lora(std::string_view text, std::string_view keys) {
  Lora lora;
  lora.rank = 0;
  lora.targets = words(kOfAttention);
  std::optional<double> alpha;
  std::set<std::string, std::less<>> given;
  if (keys.empty()) refuse(text, "r is missing");
  for (const std::string& item : split_at_commas(keys)) {
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string_view key = std::string_view(item).substr(0, equals);
    const std::string_view value = std::string_view(item).substr(std::min(equals + 1, item.size()));
    if (!given.emplace(key).second) refuse(text, fmt::format("{} is given twice", key));
    if (key == "r") {
      lora.rank = read_rank(text, value);
    } else if (key == "alpha") {
      alpha = read_alpha(text, value);
    } else if (key == "targets") {
      lora.targets = read_targets(text, value);
    } else if (key == "also") {
      lora.also = split_at_plus(value, text);
    } else if (key == "dtype") {
      lora.format = read_format(text, value);
    } else {
      refuse(text, fmt::format("'{}' is not a key of lora", item));
    }
  }
  if (lora.rank == 0) refuse(text, "r is missing");
  lora.alpha = alpha.value_or(2.0 * static_cast<double>(lora.rank));
  return lora;
}

// Whether the name is that, or ends with it behind a separator.
bool ends_as(std::string_view name, std::string_view end) {
  if (end.empty() || !name.ends_with(end)) return false;
  if (name.size() == end.size()) return true;
  const char before = name[name.size() - end.size() - 1];
  return before == '_' || before == '.' || before == '/';
}

bool begins_as(std::string_view name, std::string_view begin) {
  if (!name.starts_with(begin)) return false;
  if (name.size() == begin.size()) return true;
  const char after = name[begin.size()];
  return after == '_' || after == '.' || after == '/';
}

bool is_target(const Layer& layer, std::string_view word) {
  if (!std::holds_alternative<Linear>(layer.op) || layer.weight_of.valid()) return false;
  const auto* const known = std::ranges::find(kTargets, word, &Target::word);
  if (known == kTargets.end()) return ends_as(layer.name, word);
  return std::ranges::any_of(known->ends,
                             [&](std::string_view end) { return ends_as(layer.name, end); });
}

bool is_chosen(const Layer& layer, std::span<const std::string> names) {
  return std::ranges::any_of(names,
                             [&](const std::string& word) { return begins_as(layer.name, word); });
}

void check_layers(const Graph& graph, std::span<const std::string> names) {
  for (const std::string& word : names) {
    if (std::ranges::any_of(graph.layers(),
                            [&](const Layer& layer) { return begins_as(layer.name, word); })) {
      continue;
    }
    throw InputError(fmt::format(
        "`train`: network {} has no layer '{}'; allowed: names of layers, or what these begin with",
        graph.name(), word));
  }
}

// Of some words for products a network may have none: gate, where a feed-forward layer has two.
void check_targets(const Graph& graph, const Lora& lora) {
  const auto has = [&](const std::string& word) {
    return std::ranges::any_of(graph.layers(),
                               [&](const Layer& layer) { return is_target(layer, word); });
  };
  std::size_t found = 0;
  for (const std::string& word : lora.targets) {
    if (has(word)) {
      ++found;
    } else if (std::ranges::find(kTargets, word, &Target::word) == kTargets.end()) {
      throw InputError(fmt::format(
          "`train`: network {} has no linear layer whose name ends with '{}'; allowed: q, k, v, o, "
          "gate, up, down, or an end of a name",
          graph.name(), word));
    }
  }
  if (found > 0) return;
  throw InputError(fmt::format(
      "`train`: network {} has none of the products {}; allowed: ends of names of linear layers",
      graph.name(), fmt::join(lora.targets, ", ")));
}

bool is_kept_in(const Layer& layer, WeightFormat format) {
  return format != WeightFormat::plain && traits(layer.op).casts && !layer.weight_of.valid();
}

/// Adds a network's layers to another one by one, with adapters beside some.
class Adapting {
 public:
  Adapting(const Graph& graph, const Lora& lora)
      : graph_(graph), lora_(lora), to_(graph.name(), graph.batch()) {}

  Graph build() && {
    std::vector<double> speeds;
    for (const Layer& layer : graph_.layers()) {
      const LayerId base = to_.add(layer.name, layer.op, inputs_of(layer));
      const bool reduced = is_kept_in(layer, lora_.format) && !ends_network(LayerId(now_.size()));
      const bool whole = is_chosen(layer, lora_.also);
      if (!whole) to_.freeze(base, reduced ? lora_.format : WeightFormat::plain);
      const bool adapted =
          !whole && std::ranges::any_of(lora_.targets, [&](const std::string& word) {
            return is_target(layer, word);
          });
      now_.push_back(adapted ? add_adapter(layer, base) : base);
      speeds.resize(base(), 1.0);
      speeds.push_back(layer.speed);
    }
    speeds.resize(to_.size(), 1.0);
    return std::move(to_).build().with_speeds(speeds);
  }

 private:
  std::vector<LayerId> inputs_of(const Layer& layer) const {
    std::vector<LayerId> inputs;
    for (const LayerId input : layer.inputs) inputs.push_back(now_[input()]);
    return inputs;
  }

  // The product that tells classes stays as it is, as libraries that quantise leave it.
  bool ends_network(LayerId layer) const {
    return std::ranges::any_of(graph_.consumers(layer), [&](LayerId reader) {
      const Op& op = graph_[reader].op;
      return is_loss(op) || (is_elementwise(op) && ends_network(reader));
    });
  }

  LayerId add_adapter(const Layer& layer, LayerId base) {
    const auto add = [&](std::string_view end, Op op, std::vector<LayerId> inputs) {
      const LayerId part =
          to_.add(fmt::format("{}_lora{}", layer.name, end), std::move(op), std::move(inputs));
      to_.adapt(part, base);
      return part;
    };
    const LayerId down = add("_a", Linear{lora_.rank, false}, inputs_of(layer));
    LayerId up = add("_b", Linear{std::get<Linear>(layer.op).out_features, false}, {down});
    const double scale = lora_.alpha / static_cast<double>(lora_.rank);
    if (scale != 1) up = add("_scale", Activation{ActivationKind::scale, scale}, {up});
    return add("", Add{}, {base, up});
  }

  const Graph& graph_;
  const Lora& lora_;
  GraphBuilder to_;
  std::vector<LayerId> now_;  // by layer of the network: what stands for its output
};

Graph frozen(const Graph& graph, std::span<const std::string> names) {
  check_layers(graph, names);
  GraphBuilder to(graph.name(), graph.batch());
  std::vector<double> speeds;
  for (const Layer& layer : graph.layers()) {
    const LayerId added = to.add(layer.name, layer.op, layer.inputs);
    if (is_chosen(layer, names)) to.freeze(added);
    speeds.push_back(layer.speed);
  }
  Graph result = std::move(to).build().with_speeds(speeds);
  if (result.trained_parameters() > 0) return result;
  throw InputError(fmt::format(
      "`train`: all layers of network {} are frozen, so that nothing is trained", graph.name()));
}

}  // namespace

Finetuning parse_finetuning(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view form = text.substr(0, colon);
  const std::string_view rest = text.substr(std::min(colon + 1, text.size()));
  if (text.empty() || text == "full") return {};
  if (form == kLora) return {.lora = parse_lora(text, rest), .frozen = {}};
  if (form == kFrozen) return {.lora = {}, .frozen = split_at_plus(rest, text)};
  refuse(text, fmt::format("'{}' is not a way to train", form));
}

Graph finetuned(const Graph& graph, const Finetuning& how) {
  if (!how.frozen.empty()) return frozen(graph, how.frozen);
  if (!how.lora) return graph;
  check_targets(graph, *how.lora);
  check_layers(graph, how.lora->also);
  return Adapting(graph, *how.lora).build();
}

AdapterPart adapter_part(const Graph& graph, LayerId layer) {
  const Layer& it = graph[layer];
  if (!it.adapts.valid()) return AdapterPart::none;
  if (std::holds_alternative<Add>(it.op)) return AdapterPart::sum;
  return it.inputs == graph[it.adapts].inputs ? AdapterPart::down : AdapterPart::up;
}

}  // namespace strata
