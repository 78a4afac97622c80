#include "sim/graph/expert_load.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {
namespace {

bool is_dispatch(const Layer& layer) {
  return std::holds_alternative<Dispatch>(layer.op);
}
bool is_combine(const Layer& layer) {
  return std::holds_alternative<Combine>(layer.op);
}

// By layer: whether its output is the slots of experts.
std::vector<bool> carriers(const Graph& graph) {
  std::vector<bool> carries(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Layer& layer = graph.layers()[i];
    carries[i] = is_dispatch(layer) ||
                 (!is_combine(layer) &&
                  std::ranges::any_of(layer.inputs, [&](LayerId id) { return carries[id()]; }));
  }
  return carries;
}

void check_has_experts(const Graph& graph) {
  if (has_experts(graph)) return;
  throw InputError(fmt::format("{} has no experts; expected a mixture of experts", graph.name()));
}

// A small generator whose numbers are the same everywhere (Steele et al., "SplitMix", 2014).
std::uint64_t next_number(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EB;
  return z ^ (z >> 31U);
}

void shuffle(std::vector<double>& values) {
  std::uint64_t state = 0;
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[next_number(state) % i]);
  }
}

// An expert has a token once at most. What the most loaded ones would have above that, the others
// share as they share the rest.
void limit(std::vector<double>& load, double most) {
  const double sum = std::accumulate(load.begin(), load.end(), 0.0);
  std::vector<bool> full(load.size());
  for (bool changed = true; changed;) {
    changed = false;
    double of_full = 0, of_others = 0;
    for (std::size_t i = 0; i < load.size(); ++i) (full[i] ? of_full : of_others) += load[i];
    for (std::size_t i = 0; i < load.size(); ++i) {
      if (full[i]) continue;
      load[i] *= (sum - of_full) / of_others;
      if (load[i] < most) continue;
      load[i] = most;
      full[i] = changed = true;
    }
  }
}

std::vector<double> load_of_counts(std::vector<double> counts, std::int64_t experts,
                                   std::int64_t top_k) {
  if (counts.size() != static_cast<std::size_t>(experts)) {
    throw InputError(fmt::format("there are {} counts; expected one for each of {} experts",
                                 counts.size(), experts));
  }
  const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
  if (sum <= 0) throw InputError("no expert has a token");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] * static_cast<double>(top_k) > sum * (1 + 1e-9)) {
      throw InputError(
          fmt::format("expert {} has {} of {} tokens; expected a token of each {} at most", i,
                      counts[i], sum, top_k));
    }
    counts[i] *= static_cast<double>(experts) / sum;
  }
  return counts;
}

// Of each expert; none where all have equally many.
std::vector<double> loads_of(const ExpertLoad& load, std::int64_t experts, std::int64_t top_k) {
  if (const auto* const zipf = std::get_if<ZipfLoad>(&load)) {
    return zipf_load(experts, top_k, zipf->exponent);
  }
  const auto* const counted = std::get_if<CountedLoad>(&load);
  return counted ? load_of_counts(counted->tokens, experts, top_k) : std::vector<double>();
}

// Of all layers whose routing may differ: those that carry slots of experts, and combinations.
template <class Change>
Graph with_routings(const Graph& graph, const Change& change) {
  check_has_experts(graph);
  const std::vector<bool> carries = carriers(graph);
  std::vector<ExpertRouting> routings;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Layer& layer = graph.layers()[i];
    ExpertRouting& routing = routings.emplace_back(layer.routing);
    if (!carries[i] && !is_combine(layer)) continue;
    routing.experts = carries[i] ? layer.output[Dim::d] : 0;
    change(LayerId(i), routing);
    if (routing == ExpertRouting{.experts = routing.experts}) routing = {};
  }
  return graph.with_routings(routings);
}

}  // namespace

bool has_experts(const Graph& graph) {
  return std::ranges::any_of(graph.layers(), is_dispatch);
}

Graph with_routing(const Graph& graph, const std::function<void(ExpertRouting&)>& change) {
  return with_routings(graph, [&](LayerId, ExpertRouting& routing) { change(routing); });
}

Graph with_expert_load(const Graph& graph, const ExpertLoad& load) {
  return with_routings(graph, [&](LayerId layer, ExpertRouting& routing) {
    if (is_combine(graph[layer])) return;  // it puts out tokens, which have no load
    const std::int64_t top_k = std::get<Dispatch>(graph[dispatch_of(graph, layer)].op).top_k;
    routing.load = loads_of(load, routing.experts, top_k);
  });
}

std::vector<double> zipf_load(std::int64_t experts, std::int64_t top_k, double exponent) {
  std::vector<double> load;
  double sum = 0;
  for (std::int64_t k = 1; k <= experts; ++k) {
    load.push_back(std::pow(static_cast<double>(k), -exponent));
    sum += load.back();
  }
  for (double& share : load) share *= static_cast<double>(experts) / sum;
  limit(load, static_cast<double>(experts) / static_cast<double>(top_k));
  shuffle(load);
  return load;
}

double load_of(const Layer& layer, const Box& shard) {
  const std::vector<double>& load = layer.routing.load;
  const Interval& experts = shard[Dim::d];
  if (load.empty() || experts.size() == static_cast<std::int64_t>(load.size())) return 1;
  if (experts.empty()) return 1;
  const auto first = load.begin() + experts.begin, last = load.begin() + experts.end;
  return std::accumulate(first, last, 0.0) / static_cast<double>(experts.size());
}

double most_load(const Layer& layer, std::int64_t parts) {
  double most = 0;
  Box box = whole(layer.output);
  for (std::int64_t i = 0; i < parts; ++i) {
    box[Dim::d] = part(layer.output[Dim::d], static_cast<std::int32_t>(parts), i);
    most = std::max(most, load_of(layer, box));
  }
  return most;
}

Tile loaded(const Layer& layer, Tile shard) {
  const double load = load_of(layer, shard);
  if (load == 1) return shard;
  Interval& slots = shard[Dim::w];
  const auto taken = std::llround(load * static_cast<double>(slots.size()));
  slots.end = slots.begin + std::max<std::int64_t>(1, taken);
  return shard;
}

// Slots do not pass a combination, so a dispatch that is reached past none is one of them.
LayerId dispatch_of(const Graph& graph, LayerId layer) {
  std::vector<LayerId> reached = {layer};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const Layer& one = graph[reached[i]];
    if (is_dispatch(one)) return reached[i];
    if (i > 0 && is_combine(one)) continue;
    for (const LayerId input : one.inputs) {
      if (std::ranges::find(reached, input) == reached.end()) reached.push_back(input);
    }
  }
  throw InternalError(fmt::format("{} carries no slots of experts", graph[layer].name));
}

}  // namespace strata
