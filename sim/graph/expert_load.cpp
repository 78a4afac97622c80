#include "sim/graph/expert_load.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/text/file.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::string_view kBalanced = "balanced", kZipf = "zipf:";
constexpr double kMostExponent = 10;
constexpr std::string_view kAllowed = "expected balanced, zipf:S or a file of counts";

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

double read_count(std::string_view word, const std::string& file, std::size_t line) {
  try {
    const double count = parse_number(word);
    if (count >= 0) return count;
  } catch (const InputError&) {  // said below, with its place
  }
  throw InputError(fmt::format("{}:{}: '{}' is not a count of tokens; expected a number from 0",
                               file, line, word));
}

// Numbers between blanks, commas and ends of lines; what follows a # is a comment.
std::vector<double> read_counts(const std::string& file) {
  const std::string text = read_file(file);
  std::vector<double> counts;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    line = line.substr(0, line.find('#'));
    ++number;
    constexpr std::string_view kBetween = " \t\r,";
    for (std::size_t at = 0; (at = line.find_first_not_of(kBetween, at)) != line.npos;) {
      const std::size_t last = std::min(line.find_first_of(kBetween, at), line.size());
      counts.push_back(read_count(line.substr(at, last - at), file, number));
      at = last;
    }
    begin = end + 1;
  }
  return counts;
}

std::vector<double> load_of_counts(std::vector<double> counts, const std::string& file,
                                   std::int64_t experts, std::int64_t top_k) {
  if (counts.size() != static_cast<std::size_t>(experts)) {
    throw InputError(fmt::format("{}: it has {} counts; expected one for each of {} experts", file,
                                 counts.size(), experts));
  }
  const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
  if (sum <= 0) throw InputError(fmt::format("{}: no expert has a token", file));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] * static_cast<double>(top_k) > sum * (1 + 1e-9)) {
      throw InputError(
          fmt::format("{}: expert {} has {} of {} tokens; expected a token of each {} at most",
                      file, i, counts[i], sum, top_k));
    }
    counts[i] *= static_cast<double>(experts) / sum;
  }
  return counts;
}

double read_exponent(std::string_view text) {
  try {
    const double exponent = parse_number(text.substr(kZipf.size()));
    if (exponent >= 0 && exponent <= kMostExponent) return exponent;
  } catch (const InputError&) {  // said below, with what is allowed
  }
  throw InputError(fmt::format("'{}' is not a load of experts; expected zipf:S with S from 0 to {}",
                               text, kMostExponent));
}

}  // namespace

bool has_experts(const Graph& graph) {
  return std::ranges::any_of(graph.layers(), is_dispatch);
}

Graph with_routing(const Graph& graph, const std::function<void(ExpertRouting&)>& change) {
  check_has_experts(graph);
  const std::vector<bool> carries = carriers(graph);
  std::vector<ExpertRouting> routings;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Layer& layer = graph.layers()[i];
    ExpertRouting& routing = routings.emplace_back(layer.routing);
    if (!carries[i] && !is_combine(layer)) continue;
    routing.experts = carries[i] ? layer.output[Dim::d] : 0;
    change(routing);
    if (routing == ExpertRouting{.experts = routing.experts}) routing = {};
  }
  return graph.with_routings(routings);
}

Graph with_expert_load(const Graph& graph, const std::string& text) {
  check_has_experts(graph);
  const bool zipf = text.starts_with(kZipf), file = !zipf && text != kBalanced;
  const double exponent = zipf ? read_exponent(text) : 0;
  if (file && !std::filesystem::exists(text)) {
    throw InputError(fmt::format("'{}' is not a load of experts; {}", text, kAllowed));
  }
  const std::vector<double> counts = file ? read_counts(text) : std::vector<double>();
  const std::vector<bool> carries = carriers(graph);
  std::vector<ExpertRouting> routings;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Layer& layer = graph.layers()[i];
    ExpertRouting& routing = routings.emplace_back(layer.routing);
    if (!carries[i]) continue;
    routing.experts = layer.output[Dim::d];
    const std::int64_t top_k = std::get<Dispatch>(graph[dispatch_of(graph, LayerId(i))].op).top_k;
    routing.load = zipf   ? zipf_load(routing.experts, top_k, exponent)
                   : file ? load_of_counts(counts, text, routing.experts, top_k)
                          : std::vector<double>();
    if (routing == ExpertRouting{.experts = routing.experts}) routing = {};
  }
  return graph.with_routings(routings);
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

LayerId dispatch_of(const Graph& graph, LayerId layer) {
  while (!is_dispatch(graph[layer])) layer = graph[layer].inputs.front();
  return layer;
}

}  // namespace strata
