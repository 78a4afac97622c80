#include "sim/plan/slot_exchanges.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "sim/graph/expert_load.h"

namespace strata {
namespace {

/// The layer of experts whose slots move, and whether they come from tokens or return to them.
struct SlotMoves {
  LayerId experts;
  bool to_experts = false, from_experts = false;
};

// Where nothing is set of the experts, or tokens move, nothing.
std::optional<SlotMoves> slot_moves(const Graph& graph, const Moves& moves) {
  if (moves.from == moves.to) {
    if (graph[moves.layer].routing.experts == 0) return std::nullopt;
    return SlotMoves{moves.layer};
  }
  const LayerId producer = graph[moves.layer].inputs[moves.input];
  if (graph[producer].routing.experts == 0) return std::nullopt;
  if (graph[moves.layer].routing.experts == 0) return SlotMoves{producer, false, true};
  return SlotMoves{moves.layer, std::holds_alternative<Dispatch>(graph[producer].op)};
}

// The share of tokens that have any of `some` of the experts, if each choice is as likely.
double has_one_of(double some, double experts, std::int64_t top_k) {
  double none = 1;
  for (std::int64_t i = 0; i < top_k; ++i) {
    const auto taken = static_cast<double>(i);
    none *= std::max(0.0, experts - some - taken) / (experts - taken);
  }
  return 1 - none;
}

double binomial(std::int64_t n, std::int64_t k) {
  if (k < 0 || k > n) return 0;
  double ways = 1;
  for (std::int64_t i = 1; i <= k; ++i) {
    ways *= static_cast<double>(n - k + i) / static_cast<double>(i);
  }
  return ways;
}

std::size_t largest_domain(const Cluster& cluster, std::span<const DeviceId> devices) {
  std::map<std::string, std::size_t> counts;
  std::size_t largest = 0;
  for (const DeviceId device : devices) {
    largest = std::max(largest, ++counts[cluster[device].fast_domain()]);
  }
  return largest;
}

/// What a layer's router and dispatch make of a token.
struct Tokens {
  std::int64_t top_k = 1;       ///< how many experts compute it
  std::int64_t groups = 1;      ///< of neighbouring experts
  std::int64_t top_groups = 1;  ///< of which those that compute it are
  double slots = 1;     ///< how many slots there are for each token; more than top_k if padded
  double channels = 1;  ///< how many values it has
};

Tokens tokens_of(const Graph& graph, LayerId experts) {
  const LayerId id = dispatch_of(graph, experts);
  const Layer& dispatch = graph[id];
  const Extents& tokens = graph[dispatch.inputs.front()].output;
  Tokens of;
  of.top_k = std::get<Dispatch>(dispatch.op).top_k;
  if (const auto* router = std::get_if<Router>(&graph[dispatch.inputs.back()].op)) {
    of.groups = router->groups;
    of.top_groups = router->top_groups;
  }
  of.slots = static_cast<double>(volume(dispatch.output)) / static_cast<double>(volume(tokens));
  of.channels = static_cast<double>(tokens[Dim::c]);
  return of;
}

// The share of tokens that have any of `some` neighbouring experts. Of the groups that these are
// of, a token's router chooses a hypergeometric number.
double share_with_one_of(const Tokens& tokens, double some, double experts) {
  const double group = experts / static_cast<double>(tokens.groups);
  const std::int64_t neighbours = std::max<std::int64_t>(1, std::llround(some / group));
  const double open = group * static_cast<double>(tokens.top_groups);
  double share = 0;
  for (std::int64_t chosen = 1; chosen <= std::min(neighbours, tokens.top_groups); ++chosen) {
    const double likely = binomial(neighbours, chosen) *
                          binomial(tokens.groups - neighbours, tokens.top_groups - chosen) /
                          binomial(tokens.groups, tokens.top_groups);
    const double there = some * static_cast<double>(chosen) / static_cast<double>(neighbours);
    share += likely * has_one_of(there, open, tokens.top_k);
  }
  return share;
}

// What each domain's experts have of the tokens that they would have if all experts had equally
// many; the most that any has.
double most_load_of_domains(const Expansion& to, LayerId experts,
                            std::span<const DeviceId> devices) {
  const Layer& layer = to.graph[experts];
  if (layer.routing.load.empty()) return 1;
  const Config& config = to.strategy[experts];
  std::map<std::string, std::set<std::size_t>> of_domain;
  for (std::size_t shard = 0; shard < config.devices.size(); ++shard) {
    if (std::ranges::find(devices, config.devices[shard]) == devices.end()) continue;
    const Interval own = to.shards.tile(experts, shard)[Dim::d];
    std::set<std::size_t>& all = of_domain[to.cluster[config.devices[shard]].fast_domain()];
    for (std::int64_t i = own.begin; i < own.end; ++i) all.insert(static_cast<std::size_t>(i));
  }
  double most = 0;
  for (const auto& [domain, all] : of_domain) {
    double sum = 0;
    for (const std::size_t expert : all) sum += layer.routing.load[expert];
    if (!all.empty()) most = std::max(most, sum / static_cast<double>(all.size()));
  }
  return most;
}

// Of a token, and of a device in the mean: how likely any of its experts is one of the token's.
double wanted_by_a_device(const Expansion& to, LayerId experts) {
  const Layer& layer = to.graph[experts];
  const std::int32_t parts = to.strategy[experts].degrees[Dim::d];
  const auto all = static_cast<double>(layer.routing.experts);
  const double balanced = share_with_one_of(tokens_of(to.graph, experts), all / parts, all);
  double sum = 0;
  Box box = whole(layer.output);
  for (std::int32_t i = 0; i < parts; ++i) {
    box[Dim::d] = part(layer.output[Dim::d], parts, i);
    sum += std::min(1.0, load_of(layer, box) * balanced);
  }
  return sum / parts;
}

// Of an all-to-all a device of a domain of g gets from each other one slots / D of a token, for D
// parts of the experts. Sent once, tokens of other domains come to one device of its own, which
// passes them on inside.
SentOnce sent_once(const Expansion& to, LayerId experts, std::span<const DeviceId> devices) {
  const Layer& layer = to.graph[experts];
  const Tokens tokens = tokens_of(to.graph, experts);
  const auto all = static_cast<double>(layer.routing.experts);
  const double parts = to.strategy[experts].degrees[Dim::d],
               count = static_cast<double>(devices.size());
  const auto near = static_cast<double>(largest_domain(to.cluster, devices));
  const double load = most_load(layer, to.strategy[experts].degrees[Dim::d]);
  const double device = std::min(1.0, load * share_with_one_of(tokens, all / parts, all));
  const double domain = std::min(1.0, most_load_of_domains(to, experts, devices) *
                                          share_with_one_of(tokens, all * near / count, all));
  SentOnce sent{true, device * count * parts / (near * tokens.slots),
                domain * parts / (near * tokens.slots)};
  if (const auto& sends = to.cluster.communication_library().token_sends) {
    const double row =
        tokens.channels * static_cast<double>(element_bytes(to.options.dtypes.values));
    sent.inside *= 1 + static_cast<double>(sends->row.value) / row;
  }
  return sent;
}

// All tokens of the group, or a sum for each.
Bytes tokens_of_all(const Expansion& to, const SlotMoves& slots,
                    const ExchangeGroups::Group& group) {
  const double copies =
      static_cast<double>(group.devices.size()) / to.strategy[slots.experts].degrees[Dim::d];
  const double tokens =
      static_cast<double>(group.elements) / (copies * tokens_of(to.graph, slots.experts).slots);
  return to.bytes_of(std::llround(tokens));
}

Bytes times(Bytes bytes, double factor) {
  return Bytes{std::llround(factor * static_cast<double>(bytes.value))};
}

}  // namespace

GroupExchange exchange_of(const Expansion& to, const Moves& moves,
                          const ExchangeGroups::Group& group) {
  GroupExchange exchange{group.cut_otherwise ? GroupWork::all_to_all : moves.work,
                         to.bytes_of(group.elements)};
  const auto slots = slot_moves(to.graph, moves);
  if (!slots) return exchange;
  const ExpertRouting& routing = to.graph[slots->experts].routing;
  // Were every token sent to every part of the experts, over the slots that are.
  const double copies_of_a_slot =
      to.strategy[slots->experts].degrees[Dim::d] / tokens_of(to.graph, slots->experts).slots;
  if (group.cut_otherwise && routing.dispatch == TokenDispatch::deepep) {
    exchange.sent = sent_once(to, slots->experts, group.devices);
    exchange.moved = wanted_by_a_device(to, slots->experts) * copies_of_a_slot;
    return exchange;
  }
  if (group.cut_otherwise && routing.dispatch == TokenDispatch::allgather) {
    const bool gathers = slots->to_experts == moves.forward;
    exchange.work = gathers ? GroupWork::all_gather : GroupWork::reduce_scatter;
    exchange.bytes = tokens_of_all(to, *slots, group);
    exchange.moved = copies_of_a_slot;
    return exchange;
  }
  if (routing.load.empty()) return exchange;
  const Layer& layer = to.graph[slots->experts];
  exchange.bytes =
      times(exchange.bytes, most_load(layer, to.strategy[slots->experts].degrees[Dim::d]));
  return exchange;
}

double moved_load(const Expansion& to, const Moves& moves, const NeededBox& box) {
  const auto slots = slot_moves(to.graph, moves);
  if (!slots) return 1;
  const Layer& layer = to.graph[slots->experts];
  if (layer.routing.load.empty()) return 1;
  const std::size_t shard = slots->from_experts ? box.producer_shard : box.consumer_shard;
  return load_of(layer, to.shards.tile(slots->experts, shard));
}

}  // namespace strata
