#include "sim/strategy/hybrid.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/finetuning.h"
#include "sim/graph/regions.h"
#include "sim/strategy/chunks.h"
#include "sim/strategy/shared_weight.h"
#include "sim/text/split.h"

namespace strata {
namespace {

constexpr std::string_view kPrefix = "hybrid:";
constexpr int kMostParts = 1 << 20;

int read_count(std::string_view text, std::string_view key, std::string_view digits, int most) {
  int value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error == std::errc() && stop == end && value >= 1 && value <= most) return value;
  throw InputError(fmt::format("strategy '{}': {} must be {}, not '{}'", text, key,
                               most == 1 ? "1" : fmt::format("an integer from 1 to {}", most),
                               digits));
}

// The devices of a hybrid from the slowest to the fastest: stages, samples, tokens, channels.
// Layers are cut as if all lay on the first stage.
class Hybrid {
 public:
  Hybrid(const Graph& graph, int devices, std::string_view text)
      : graph_(graph), text_(text), sizes_(parse_hybrid(text)) {
    const std::int64_t inner = std::int64_t{sizes_.tensor} * sizes_.context * sizes_.stages;
    if (devices % inner != 0) {
      throw InputError(fmt::format(
          "strategy '{}': its parts are {} devices, which do not divide {}", text, inner, devices));
    }
    samples_ = static_cast<int>(devices / inner);
    stage_devices_ = static_cast<std::size_t>(devices / sizes_.stages);
    share_experts();
  }

  Strategy build() && {
    if (sizes_.by_heads && std::ranges::none_of(graph_.layers(), has_heads)) {
      throw InputError(
          fmt::format("strategy '{}': cp_by=heads needs an attention; no layer is one", text_));
    }
    if ((sizes_.experts > 1 || sizes_.expert_tensor > 0) &&
        std::ranges::none_of(graph_.layers(), has_experts)) {
      throw InputError(
          fmt::format("strategy '{}': ep and etp need experts; no layer has any", text_));
    }
    for (std::size_t i = 0; i < graph_.size(); ++i) add(graph_.layers()[i]);
    if (sizes_.stages > 1) move_to_stages();
    return {std::string(text_), std::move(configs_)};
  }

 private:
  void add(const Layer& layer) {
    if (layer.weight_of.valid()) {
      const LayerId owner = layer.weight_of;
      if (const auto config = config_with_weight(layer, graph_[owner], configs_[owner()])) {
        configs_.push_back(*config);
        channels_.push_back(is_product(layer) || channels_[owner()]);
        return;
      }
    }
    if (sizes_.by_heads && has_heads(layer)) {
      configs_.push_back(in_heads(layer));
      channels_.push_back(true);
      return;
    }
    const bool input = is_input(layer.op);
    const bool reads_channels =
        std::any_of(layer.inputs.begin(), layer.inputs.end(),
                    [&](LayerId producer) { return channels_[producer()]; });
    if (is_of_experts(layer)) return add_experts(layer, reads_channels);
    if (layer.adapts.valid()) return add_adapter(layer, reads_channels);
    if (!reads_channels && is_latent(LayerId(configs_.size()))) {
      configs_.push_back(in_parts_of_tokens(layer));
      channels_.push_back(false);
      return;
    }
    const bool sums =
        layer.reduction >= std::max(2, sizes_.tensor) && (reads_channels || !is_product(layer));
    const bool by_channels =
        !input && !sums && !parts_a_head(layer) && why_whole(layer.op, Dim::c).empty() &&
        (is_product(layer) || layer.output[Dim::w] == 1 || (reads_channels && !mixes(layer)));
    configs_.push_back(input         ? config_on_first_devices(kWhole)
                       : sums        ? in_terms(layer)
                       : by_channels ? in_channels(layer)
                                     : in_tokens(layer));
    channels_.push_back(by_channels);
  }

  // Beside a product that is cut in channels, B is cut as the product; where the product adds terms
  // up, A does, too. The other one of the two is cut in tokens where devices share these; else in
  // channels, and what it makes is gathered, as Megatron-LM's adapters do.
  void add_adapter(const Layer& layer, bool reads_channels) {
    const AdapterPart part = adapter_part(graph_, LayerId(configs_.size()));
    const bool sums = part == AdapterPart::down && reads_channels &&
                      layer.reduction >= std::max(2, sizes_.tensor);
    const bool apart =
        part != AdapterPart::sum && !sizes_.shares_tokens && may_cut(layer, Dim::c, sizes_.tensor);
    const bool as_product = part != AdapterPart::down && channels_[layer.adapts()];
    const bool by_channels = !sums && (apart || as_product);
    const bool copies = part == AdapterPart::sum;
    configs_.push_back(sums          ? in_terms(layer)
                       : by_channels ? in_channels(layer)
                       : copies      ? in_tokens(layer)
                                     : in_parts_of_tokens(layer));
    channels_.push_back(by_channels);
  }

  // Of the devices of a stage, those that share a dispatch's experts share tokens, too.
  void share_experts() {
    const std::int64_t tokens = std::int64_t{sizes_.context} * sizes_.tensor;
    const std::int64_t experts = std::int64_t{sizes_.experts} * sizes_.devices_of_expert();
    if (experts % tokens == 0 && samples_ * tokens % experts == 0) {
      expert_samples_ = static_cast<int>(samples_ * tokens / experts);
    } else if (tokens % experts == 0) {
      expert_samples_ = samples_;
      expert_tokens_ = static_cast<int>(tokens / experts);
    } else {
      throw InputError(
          fmt::format("strategy '{}': the experts' ep x etp = {} devices do not divide the {} of a "
                      "stage, or do not have whole samples or equal parts of one",
                      text_, experts, stage_devices_));
    }
  }

  static bool has_experts(const Layer& layer) { return layer.parameters.loops[Dim::d]; }
  // What computes on slots.
  bool is_of_experts(const Layer& layer) const {
    if (has_experts(layer)) return true;
    return layer.output[Dim::d] > 1 &&
           std::ranges::any_of(layer.inputs, [&](LayerId read) { return experts_.contains(read); });
  }

  void add_experts(const Layer& layer, bool reads_channels) {
    const int shared = sizes_.devices_of_expert();
    const bool sums = shared > 1 && is_product(layer) && reads_channels;
    Degrees degrees = kWhole;
    degrees[Dim::n] = expert_samples_;
    degrees[Dim::d] = sizes_.experts;
    degrees[Dim::w] = expert_tokens_;
    if (sums) {
      degrees.r = shared;
      degrees.scatter = Dim::w;
    } else {
      degrees[Dim::c] = shared;
    }
    check(layer, degrees);
    experts_.insert(LayerId(configs_.size()));
    configs_.push_back(on_experts(degrees));
    channels_.push_back(!sums && shared > 1);
  }

  // From the slowest to the fastest: samples, tokens, experts, channels or terms.
  Config on_experts(const Degrees& degrees) const {
    const Partition cut({}, degrees);
    const int shared = sizes_.devices_of_expert();
    std::vector<DeviceId> devices;
    devices.reserve(static_cast<std::size_t>(cut.shard_count()));
    for (std::int64_t shard = 0; shard < cut.shard_count(); ++shard) {
      const PerDim<std::int32_t> at = cut.coordinates(shard);
      const std::int64_t part = std::int64_t{at[Dim::n]} * expert_tokens_ + at[Dim::w] / degrees.r;
      const std::int64_t expert = part * sizes_.experts + at[Dim::d];
      devices.emplace_back(expert * shared + at[Dim::c] + at[Dim::w] % degrees.r);
    }
    return {degrees, std::move(devices)};
  }

  // What each of the devices that share channels needs whole: a vector that is smaller than what it
  // is a product of, and its norm, before the next products; a key that all heads share; a single
  // channel.
  bool is_latent(LayerId id) const {
    const Layer& layer = graph_[id];
    if (layer.output[Dim::w] == 1 || layer.weight_of.valid()) return false;
    if (!is_product(layer)) {
      return is_norm_of_products(id) && is_latent(layer.inputs.front());
    }
    const auto readers = graph_.consumers(id);
    if (layer.output[Dim::c] == 1 || readers.empty()) return layer.output[Dim::c] == 1;
    return std::ranges::all_of(readers, [&](LayerId reader) {
      const auto* const attention = std::get_if<Attention>(&graph_[reader].op);
      if (attention == nullptr) {
        return layer.output[Dim::c] < layer.reduction && is_norm_of_products(reader);
      }
      return attention->shared_size > 0 && graph_[reader].inputs.back() == id;
    });
  }
  // An RMS norm over all channels that only products read.
  bool is_norm_of_products(LayerId id) const {
    const auto readers = graph_.consumers(id);
    return std::holds_alternative<RmsNorm>(graph_[id].op) && mixes(graph_[id]) &&
           !readers.empty() &&
           std::ranges::all_of(readers, [&](LayerId it) { return is_product(graph_[it]); });
  }

  static bool has_heads(const Layer& layer) { return std::holds_alternative<Attention>(layer.op); }
  static bool is_product(const Layer& layer) {
    return layer.reduction > 1 && !traits(layer.op).terms_lead;
  }
  // Where what was cut in channels meets what is cut in tokens: the sum of a residual; a norm,
  // whose statistics go over all channels.
  static bool mixes(const Layer& layer) {
    const bool over_channels = statistics(layer, whole(layer.output)).over[Dim::c];
    return std::holds_alternative<Add>(layer.op) || (over_channels && !is_loss(layer.op));
  }

  // Whether more devices share the channels than a norm of heads has heads.
  bool parts_a_head(const Layer& layer) const {
    return !layer.parameters.loops[Dim::c] && !may_cut(layer, Dim::c, sizes_.tensor);
  }

  // What lies between products: each of T devices has some tokens, or all of them.
  Config in_tokens(const Layer& layer) const {
    Cut cut{kWhole, kWhole};
    cut.degrees[Dim::n] = samples_;
    cut.degrees[Dim::w] = sizes_.context;
    if (sizes_.shares_tokens) {
      cut.degrees[Dim::w] *= sizes_.tensor;
    } else if (sizes_.tensor > 1) {
      cut.degrees.r = sizes_.tensor;
      cut.degrees.scatter = Dim::w;
    }
    cut.strides[Dim::n] = sizes_.context * sizes_.tensor;
    return placed(layer, cut);
  }
  // Each has some tokens, whether it shares what lies between products or not.
  Config in_parts_of_tokens(const Layer& layer) const {
    Cut cut{kWhole, kWhole};
    cut.degrees[Dim::n] = samples_;
    cut.degrees[Dim::w] = sizes_.context * sizes_.tensor;
    cut.strides[Dim::n] = sizes_.context * sizes_.tensor;
    return placed(layer, cut);
  }
  Config in_channels(const Layer& layer) const {
    Cut cut{kWhole, kWhole};
    cut.degrees[Dim::n] = samples_;
    cut.degrees[Dim::c] = sizes_.tensor;
    cut.degrees[Dim::w] = layer.output[Dim::w] > 1 ? sizes_.context : 1;
    cut.strides[Dim::n] = sizes_.context * sizes_.tensor;
    cut.strides[Dim::w] = sizes_.tensor;
    return placed(layer, cut);
  }
  // Of each device that shares channels, those that share its tokens take some of its heads, so
  // that only these exchange anything: of the heads' T x C parts, device c T + t has part t C + c.
  Config in_heads(const Layer& layer) const {
    const auto tensor = static_cast<std::size_t>(sizes_.tensor),
               context = static_cast<std::size_t>(sizes_.context);
    Cut cut{kWhole, kWhole};
    cut.degrees[Dim::n] = samples_;
    cut.degrees[Dim::c] = sizes_.tensor * sizes_.context;
    cut.strides[Dim::n] = sizes_.context * sizes_.tensor;
    Config config = placed(layer, cut);
    std::vector<DeviceId> devices;
    devices.reserve(config.devices.size());
    for (std::size_t shard = 0; shard < config.devices.size(); ++shard) {
      const std::size_t part = shard % (tensor * context);
      devices.emplace_back(shard - part + part % context * tensor + part / context);
    }
    config.devices = std::move(devices);
    return config;
  }
  Config in_terms(const Layer& layer) const {
    Cut cut{kWhole, kWhole};
    const bool tokens = layer.output[Dim::w] > 1;
    cut.degrees[Dim::n] = samples_;
    cut.degrees[Dim::w] = tokens ? sizes_.context : 1;
    cut.degrees.r = sizes_.tensor;
    cut.degrees.scatter = sizes_.tensor == 1 ? Dim::n : tokens ? Dim::w : Dim::c;
    cut.strides[Dim::n] = sizes_.context * sizes_.tensor;
    return placed(layer, cut);
  }

  Config placed(const Layer& layer, const Cut& cut) const {
    check(layer, cut.degrees);
    return config_of(cut);
  }

  void check(const Layer& layer, const Degrees& degrees) const {
    for (Dim dim : kDims) {
      if (may_cut(layer, dim, degrees[dim])) continue;
      fail(layer, fmt::format("degree {} in {}; allowed: 1 to {}, {}", degrees[dim], name(dim),
                              most_parts(layer)[dim], why_no_more(layer, dim)));
    }
    if (degrees.r > most_parts_of_sums(layer) ||
        (degrees.r > 1 && !may_scatter(layer, degrees)[degrees.scatter])) {
      fail(layer, fmt::format("{} shards of each output are too many", degrees.r));
    }
  }

  void move_to_stages() {
    const std::vector<std::uint32_t> chunk_of = chunks();
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const std::size_t first = stage_of(chunk_of[i]) * stage_devices_;
      if (first == 0 || is_input(graph_[LayerId(i)].op)) continue;
      std::vector<DeviceId> devices;
      devices.reserve(configs_[i].devices.size());
      for (DeviceId device : configs_[i].devices) devices.emplace_back(device() + first);
      configs_[i].devices = std::move(devices);
    }
  }

  std::size_t stage_of(std::size_t chunk) const {
    const auto stages = static_cast<std::size_t>(sizes_.stages);
    return sizes_.folded && chunk >= stages ? 2 * stages - 1 - chunk : chunk % stages;
  }

  std::vector<std::uint32_t> chunks() const {
    try {
      return divide_into_chunks(graph_, static_cast<std::size_t>(sizes_.stages),
                                static_cast<std::size_t>(sizes_.chunks));
    } catch (const InputError& wrong) {
      throw InputError(fmt::format("strategy '{}': {}", text_, wrong.message()));
    }
  }

  [[noreturn]] void fail(const Layer& layer, std::string_view what) const {
    throw InputError(fmt::format("strategy '{}': layer {}: {}", text_, layer.name, what));
  }

  const Graph& graph_;
  std::string_view text_;
  HybridSizes sizes_;
  int samples_ = 1;
  std::size_t stage_devices_ = 1;
  int expert_samples_ = 1, expert_tokens_ = 1;  // parts of each, of what experts compute
  std::vector<Config> configs_;
  std::vector<bool> channels_;  // by layer: its output lies cut in channels
  std::set<LayerId> experts_;   // that compute on slots
};

}  // namespace

bool is_hybrid(std::string_view text) {
  return text.starts_with(kPrefix);
}

HybridSizes parse_hybrid(std::string_view text) {
  HybridSizes sizes;
  std::set<std::string> given;
  for (const std::string& item : split_at_commas(text.substr(kPrefix.size()))) {
    const std::size_t equals = item.find('=');
    const std::string_view key = std::string_view(item).substr(0, equals);
    const std::string_view digits = equals == std::string::npos
                                        ? std::string_view()
                                        : std::string_view(item).substr(equals + 1);
    if (!given.insert(std::string(key)).second) {
      throw InputError(fmt::format("strategy '{}': {} is given twice", text, key));
    }
    if (key == "tp") {
      sizes.tensor = read_count(text, key, digits, kMostParts);
    } else if (key == "cp") {
      sizes.context = read_count(text, key, digits, kMostParts);
    } else if (key == "cp_by") {
      if (digits != "heads") {
        throw InputError(fmt::format("strategy '{}': cp_by must be heads, not '{}'", text, digits));
      }
      sizes.by_heads = true;
    } else if (key == "ep") {
      sizes.experts = read_count(text, key, digits, kMostParts);
    } else if (key == "etp") {
      sizes.expert_tensor = read_count(text, key, digits, kMostParts);
    } else if (key == "sp") {
      read_count(text, key, digits, 1);
      sizes.shares_tokens = true;
    } else if (key == "pp") {
      sizes.stages = read_count(text, key, digits, kMostParts);
    } else if (key == "vp" && digits == "v") {
      sizes.chunks = 2;
      sizes.folded = true;
    } else if (key == "vp") {
      if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
        throw InputError(fmt::format(
            "strategy '{}': vp must be an integer or v, for two chunks in a V, not '{}'", text,
            digits));
      }
      sizes.chunks = read_count(text, key, digits, kMostParts);
    } else {
      throw InputError(
          fmt::format("strategy '{}': '{}' is no size; allowed: tp=T, sp=1, cp=C, cp_by=heads, "
                      "ep=E, etp=T, pp=P, vp=V, vp=v",
                      text, item));
    }
  }
  if (sizes.by_heads && sizes.context == 1) {
    throw InputError(fmt::format(
        "strategy '{}': cp_by=heads needs cp=C with C of 2 or more, parts of the tokens", text));
  }
  if (sizes.chunks > 1 && sizes.stages == 1) {
    throw InputError(
        fmt::format("strategy '{}': vp={} needs several stages; allowed: pp=P with P of 2 or more",
                    text, sizes.folded ? "v" : std::to_string(sizes.chunks)));
  }
  return sizes;
}

Strategy hybrid_parallel(const Graph& graph, int devices, std::string_view text) {
  return Hybrid(graph, devices, text).build();
}

std::vector<std::string> split_strategies(std::string_view text) {
  std::vector<std::string> names;
  for (std::string& part : split_at_commas(text)) {
    const bool size = part.find('=') != std::string::npos && !is_hybrid(part);
    if (size && !names.empty() && is_hybrid(names.back())) {
      names.back() += "," + part;
    } else {
      names.push_back(std::move(part));
    }
  }
  return names;
}

}  // namespace strata
