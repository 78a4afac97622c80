#include "sim/case/what_ifs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/case/expert_load_text.h"
#include "sim/graph/blocks.h"
#include "sim/graph/expert_load.h"
#include "sim/graph/what_if.h"
#include "sim/text/units.h"

namespace strata {
namespace {

double parse_share(const std::string& value, std::string_view else_allowed = "") {
  try {
    const double share = parse_number(value);
    if (share >= 0 && share < 1) return share;
  } catch (const InputError&) {  // said below, with what is allowed
  }
  throw InputError(
      fmt::format("'{}' is no share; allowed: a number from 0, below 1{}", value, else_allowed));
}

template <bool KernelTraits::*trait>
void change_trait(Case& input, const WhatIfValue& value) {
  change_kernels(input, [&](KernelTraits& kernels) { kernels.*trait = value.on(); });
}

template <auto KernelTraits::*kernel>
void change_implementation(Case& input, const WhatIfValue& value) {
  change_kernels(input, [&](KernelTraits& kernels) {
    using Kernel = std::remove_reference_t<decltype(kernels.*kernel)>;
    kernels.*kernel = static_cast<Kernel>(value.word);
  });
}

// What a kind of device must have of it before it is chosen.
bool has_everywhere(const Case& input, AttentionKernel kernel) {
  return std::ranges::all_of(input.models, [&](const auto& model) { return model->has(kernel); });
}

std::string attentions_of(const Case& input) {
  std::vector<std::string_view> known;
  for (std::size_t i = 0; i < kAttentionKernelNames.size(); ++i) {
    if (has_everywhere(input, AttentionKernel(i))) known.push_back(kAttentionKernelNames[i]);
  }
  return fmt::format("{}", fmt::join(known, ", "));
}

void change_attention(Case& input, const WhatIfValue& value) {
  const auto kernel = static_cast<AttentionKernel>(value.word);
  if (!has_everywhere(input, kernel)) {
    throw InputError(
        fmt::format("the profiles of these devices do not say how fast {} is; allowed: {}",
                    value.text, attentions_of(input)));
  }
  change_kernels(input, [&](KernelTraits& kernels) { kernels.attention = kernel; });
}

template <Seconds Launches::*launch>
void change_launch(Case& input, const WhatIfValue& value) {
  input.runtime.launches.*launch = parse_seconds(value.text);
}

void change_kernel_launches(Case& input, const WhatIfValue& value) {
  Launches& launches = input.runtime.launches;
  launches.forward = launches.backward = launches.update = parse_seconds(value.text);
}

template <bool Launches::*wait>
void change_wait(Case& input, const WhatIfValue& value) {
  input.runtime.launches.*wait = value.on();
}

template <HostRate HostUpdates::*rate>
void change_host(Case& input, const WhatIfValue& value) {
  HostRate& changed = input.runtime.host.*rate;
  if (is_factor(value.text)) {
    changed.times *= parse_factor(value.text);
  } else {
    changed = {parse_bandwidth(value.text), 1};
  }
}

void change_layer_speed(Case& input, const WhatIfValue& value) {
  const double speed = parse_layer_speed(value.text);
  input.graph = with_layer_speed(input.graph, value.selector, speed);
}
void change_expert_load(Case& input, const WhatIfValue& value) {
  const ExpertLoad load = read_expert_load(value.text);
  try {
    input.graph = with_expert_load(input.graph, load);
  } catch (InputError& error) {
    if (std::holds_alternative<CountedLoad>(load)) error.add_context(value.text);
    throw;
  }
}
void change_token_dispatch(Case& input, const WhatIfValue& value) {
  const auto dispatch = static_cast<TokenDispatch>(value.word);
  if (!knows(input.cluster, dispatch)) {
    throw InputError(fmt::format(
        "the cluster {} does not say how fast {} is, in [collectives.token_sends]; allowed: "
        "direct, alltoall, allgather",
        input.cluster.name(), value.text));
  }
  input.graph =
      with_routing(input.graph, [&](ExpertRouting& routing) { routing.dispatch = dispatch; });
}
template <bool ExpertRouting::*trait>
void change_routing(Case& input, const WhatIfValue& value) {
  input.graph =
      with_routing(input.graph, [&](ExpertRouting& routing) { routing.*trait = value.on(); });
}

// Of a device's power, what it draws whatever its clocks are: assumed. The rest grows with the
// square of the voltage and with the clock, and so with the cube of the clock.
constexpr double kFixedPower = 0.2;
double sustained_share(Watts limit, Watts usual) {
  if (limit <= usual && limit.value > kFixedPower * usual.value) {
    return std::cbrt((limit.value / usual.value - kFixedPower) / (1 - kFixedPower));
  }
  throw InputError(
      fmt::format("{:g} W is no limit of a device that may draw {:g} W; allowed: above "
                  "{:g} W and at most {:g} W",
                  limit.value, usual.value, kFixedPower * usual.value, usual.value));
}

// Devices of a kind have one cost model.
void change_power(Case& input, const WhatIfValue& value) {
  const Watts limit = parse_watts(value.text);
  std::set<std::string_view> kinds;
  std::map<const CostModel*, std::shared_ptr<const CostModel>> changed;
  const auto before = input.models;  // whose addresses stay theirs meanwhile
  for (std::size_t i = 0; i < input.models.size(); ++i) {
    const std::string& kind = input.cluster[DeviceId(i)].kind;
    kinds.insert(kind);
    if (value.selector != "*" && value.selector != kind) continue;
    auto& other = changed[input.models[i].get()];
    if (!other) {
      const DType dtype = input.dtypes.values;
      const auto usual = input.models[i]->power(dtype);
      if (!usual) {
        throw InputError(
            fmt::format("the profile of {} does not say what it keeps up at which power in {}",
                        kind, name(dtype)));
      }
      KernelTraits kernels = input.models[i]->kernels();
      kernels.sustained_share = sustained_share(limit, *usual);
      other = input.models[i]->with(kernels);
    }
    input.models[i] = other;
  }
  if (!changed.empty()) return;
  throw InputError(fmt::format("there is no kind of device '{}'; allowed: *, {}", value.selector,
                               fmt::join(kinds, ", ")));
}
void change_overlap(Case& input, const WhatIfValue& value) {
  input.runtime.overlap = value.on() ? Overlap::allowed : Overlap::none;
}
void change_products(Case& input, const WhatIfValue& value) {
  input.products = value.on() ? Products::merged : Products::apart;
}
void change_exchanges(Case& input, const WhatIfValue& value) {
  input.exchanges = value.on() ? Exchanges::collective : Exchanges::pairwise;
}
void change_gather(Case& input, const WhatIfValue& value) {
  input.gathers_again = value.on();
}
void change_broadcast_hop(Case& input, const WhatIfValue& value) {
  input.sync.broadcast_hop = parse_seconds(value.text);
}
void change_host_jitter(Case& input, const WhatIfValue& value) {
  input.host_jitter = parse_share(value.text);
}
constexpr std::array<std::string_view, 1> kNcclWord = {"nccl"};
// Of a device's speed, lost while its collectives move bytes. NCCL's channels have so many of the
// first device's multiprocessors for themselves.
void change_communication_share(Case& input, const WhatIfValue& value) {
  input.runtime.communication_share = value.text == kNcclWord.front()
                                          ? input.models.front()->nccl_share()
                                          : parse_share(value.text, ", or nccl");
}

// The gradients of the largest of the layers that repeat, or of all where none do.
Bytes largest_block(const Case& input) {
  const auto gradients = [&](std::size_t first, std::size_t last) {
    std::int64_t sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += input.graph[LayerId(i)].parameters.total();
    return Bytes{sum * element_bytes(input.dtypes.gradients)};
  };
  Bytes largest;
  for (const Repeat& blocks : repeated_blocks(input.graph)) {
    largest = std::max(largest, gradients(blocks.first, blocks.first + blocks.length));
  }
  return largest > Bytes{} ? largest : gradients(0, input.graph.size());
}

void change_sharing_unit(Case& input, const WhatIfValue& value) {
  input.shares_by_block = value.on();
}

using TwoWords = std::array<std::string_view, 2>;
constexpr TwoWords kOverlapWords = {"on", "off"}, kDropoutWords = {"masks", "redrawn"},
                   kLayoutWords = {"nchw", "nhwc"}, kClockWords = {"burst", "sustained"},
                   kProductsWords = {"merged", "apart"},
                   kExchangesWords = {"collective", "pairwise"}, kGatherWords = {"again", "once"},
                   kClipWords = {"norm", "off"}, kPassWords = {"pass", "none"},
                   kHostWords = {"wait", "ahead"}, kUnitWords = {"block", "bucket"},
                   kCountsWords = {"host", "device"}, kExpertWords = {"each", "grouped"};

std::vector<WhatIfSpec> make_table() {
  using enum WhatIfForm;
  std::vector<WhatIfSpec> table;
  for (const ClusterWhatIf& row : cluster_what_ifs()) {
    table.push_back({row.key, row.form, [&row](Case& input, const WhatIfValue& value) {
                       input.cluster = row.change(input.cluster, value.selector, value.text);
                     }});
  }
  const std::vector<WhatIfSpec> others = {
      {"device.SELECTOR.power", power, change_power},
      {"layer.SELECTOR.speed", speed, change_layer_speed},
      {"overlap", word, change_overlap, kOverlapWords},
      {"attention", word, change_attention, kAttentionKernelNames},
      {"rotary", word, change_implementation<&KernelTraits::rotary>, kRotaryKernelNames},
      {"optimizer.kernel", word, change_implementation<&KernelTraits::update>, kUpdateKernelNames},
      {"gradient.clip", word, change_trait<&KernelTraits::clips_gradients>, kClipWords},
      {"gradient.zero", word, change_trait<&KernelTraits::zeroes_gradients>, kPassWords},
      {"gradient.unscale", word, change_trait<&KernelTraits::unscales_gradients>, kPassWords},
      {"dropout", word, change_trait<&KernelTraits::keeps_masks>, kDropoutWords},
      {"layout", word, change_trait<&KernelTraits::channels_outermost>, kLayoutWords},
      {"clocks", word, change_trait<&KernelTraits::burst_clocks>, kClockWords},
      {"products", word, change_products, kProductsWords},
      {"exchanges", word, change_exchanges, kExchangesWords},
      {"gather", word, change_gather, kGatherWords},
      {"experts.load", load, change_expert_load},
      {"experts.dispatch", word, change_token_dispatch, kTokenDispatchNames},
      {"experts.counts", word, change_routing<&ExpertRouting::counts_on_host>, kCountsWords},
      {"experts.products", word, change_routing<&ExpertRouting::product_each>, kExpertWords},
      {"sharing.unit", word, change_sharing_unit, kUnitWords},
      {"launch.kernels", duration, change_kernel_launches},
      {"launch.forward", duration, change_launch<&Launches::forward>},
      {"launch.backward", duration, change_launch<&Launches::backward>},
      {"launch.update", duration, change_launch<&Launches::update>},
      {"launch.communication", duration, change_launch<&Launches::communication>},
      {"launch.lockstep", duration, change_launch<&Launches::lockstep>},
      {"launch.stages", word, change_wait<&Launches::wait_for_stages>, kHostWords},
      {"launch.passes", word, change_wait<&Launches::wait_for_passes>, kHostWords},
      {"broadcast.hop", duration, change_broadcast_hop},
      {"communication.share", share, change_communication_share, kNcclWord},
      {"jitter.hosts", share, change_host_jitter},
      {"host.bandwidth", bandwidth, change_host<&HostUpdates::link>},
      {"host.memory_bandwidth", bandwidth, change_host<&HostUpdates::memory>},
  };
  table.insert(table.end(), others.begin(), others.end());
  return table;
}

// "fused, flash1 or unfused".
std::string any_of_words(std::span<const std::string_view> words) {
  return fmt::format("{} or {}", fmt::join(words.first(words.size() - 1), ", "), words.back());
}

// A place among the words of a what-if.
std::size_t read_word(const WhatIfSpec& what_if, std::string_view value) {
  const auto found = std::ranges::find(what_if.words, value);
  if (found != what_if.words.end()) {
    return static_cast<std::size_t>(found - what_if.words.begin());
  }
  throw InputError(fmt::format("'{}' is not a value of {}; allowed: {}", value, what_if.key,
                               fmt::join(what_if.words, ", ")));
}

}  // namespace

std::span<const WhatIfSpec> what_ifs() {
  static const std::vector<WhatIfSpec> table = make_table();
  return table;
}

const WhatIfSpec* find_what_if(std::string_view key) {
  const auto is_of = [&](const WhatIfSpec& spec) { return selector_in(key, spec.key).has_value(); };
  const auto found = std::ranges::find_if(what_ifs(), is_of);
  return found == what_ifs().end() ? nullptr : &*found;
}

std::string what_if_keys() {
  std::vector<std::string_view> keys;
  for (const WhatIfSpec& what_if : what_ifs()) keys.push_back(what_if.key);
  return fmt::format("{}", fmt::join(keys, ", "));
}

std::string values_text(const WhatIfSpec& what_if) {
  switch (what_if.form) {
    case WhatIfForm::bandwidth:
    case WhatIfForm::latency:
    case WhatIfForm::speed:
      return "a value or a factor (2x)";
    case WhatIfForm::size:
      return "a size";
    case WhatIfForm::duration:
      return "a time";
    case WhatIfForm::share:
      return what_if.words.empty() ? "a number below 1" : "a number below 1, or nccl";
    case WhatIfForm::ratio:
      return "a number from 1";
    case WhatIfForm::load:
      return "balanced, zipf:S or a file of counts";
    case WhatIfForm::power:
      return "a power (500 W)";
    case WhatIfForm::word:
      break;
  }
  return any_of_words(what_if.words);
}

void check_value(const WhatIfSpec& what_if, const std::string& text) {
  if (what_if.form == WhatIfForm::word) {
    read_word(what_if, text);
  } else if (std::ranges::find(what_if.words, text) != what_if.words.end()) {
    return;
  } else if (is_factor(text) && takes_factors(what_if.form)) {
    parse_factor(text);
  } else if (what_if.form == WhatIfForm::share) {
    parse_share(text);
  } else if (what_if.form == WhatIfForm::load) {
    read_expert_load(text);
  } else {
    parse_amount(what_if.form, text);
  }
}

// Neighbours whose values are alike share what is said of them.
std::string what_if_help() {
  std::string text = "a what-if, KEY=VALUE: ";
  const std::span<const WhatIfSpec> all = what_ifs();
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += fmt::format("{}, ", all[i].key);
    const std::string values = values_text(all[i]);
    if (i + 1 == all.size() || values_text(all[i + 1]) != values) text += values + "; ";
  }
  return text + "as link.inter.bandwidth=0.5x (docs/clusters.md); repeatable";
}

bool changes_times(std::string_view key) {
  const WhatIfSpec* const what_if = find_what_if(key);
  return what_if == nullptr || what_if->form != WhatIfForm::size;
}

bool is_what_if(std::string_view key) {
  return std::ranges::any_of(what_ifs(), [&](const WhatIfSpec& spec) {
    const std::size_t dot = spec.key.find('.');
    return dot == std::string_view::npos ? key == spec.key
                                         : key.starts_with(spec.key.substr(0, dot + 1));
  });
}

bool knows(const Cluster& cluster, TokenDispatch dispatch) {
  return dispatch != TokenDispatch::deepep || cluster.communication_library().token_sends;
}

void settle_dispatch(Case& input, const WhatIfs& asked) {
  const auto is_chosen = [](const Layer& layer) {
    return layer.routing.dispatch != TokenDispatch::direct;
  };
  if (input.exchanges == Exchanges::collective) return;
  if (std::ranges::none_of(input.graph.layers(), is_chosen)) return;
  const auto names = [](const auto& set) { return set.first == "experts.dispatch"; };
  if (std::ranges::any_of(asked, names)) {
    throw InputError(
        "experts.dispatch is how groups exchange slots, and in this case each pair of devices "
        "does; allowed: experts.dispatch=direct, or with exchanges=collective any");
  }
  input.graph = with_routing(
      input.graph, [](ExpertRouting& routing) { routing.dispatch = TokenDispatch::direct; });
}

void settle_what_ifs(Case& input) {
  if (input.shares_by_block && input.sync.bucket == kUsualBucket) {
    input.sync.bucket = largest_block(input);
  }
  if (input.host_jitter > 0) input.cluster = with_host_jitter(input.cluster, input.host_jitter);
}

void change(Case& input, const std::string& key, const std::string& value) {
  const WhatIfSpec* const what_if = find_what_if(key);
  if (what_if == nullptr) {
    throw InputError(fmt::format("unknown key '{}'; allowed: {}", key, what_if_keys()));
  }
  const bool words = what_if->form == WhatIfForm::word;
  const std::string_view selector = *selector_in(key, what_if->key);
  what_if->change(input, {selector, value, words ? read_word(*what_if, value) : 0});
}

}  // namespace strata
