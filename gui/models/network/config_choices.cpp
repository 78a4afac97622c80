#include "gui/models/network/config_choices.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/graph/regions.h"
#include "sim/strategy/search_space.h"

namespace strata::gui {
namespace {

constexpr std::size_t kFewDevices = 16;

std::string_view word(Dim dim) {
  switch (dim) {
    case Dim::n:
      return "samples";
    case Dim::c:
      return "channels";
    case Dim::d:
      return "planes of depth";
    case Dim::h:
      return "rows";
    case Dim::w:
      return "columns";
  }
  return "";
}

/// The layer that has the least of a dim: where it can be cut, all can.
LayerId narrowest(const Graph& graph, std::span<const LayerId> layers, Dim dim) {
  return *std::min_element(layers.begin(), layers.end(), [&](LayerId a, LayerId b) {
    return most_parts(graph[a])[dim] < most_parts(graph[b])[dim];
  });
}

std::string too_fine(const Graph& graph, LayerId layer, Dim dim, std::int32_t degree) {
  const Layer& it = graph[layer];
  if (degree <= most_parts(it)[dim]) return {};
  if (is_opaque(it.op) && dim != Dim::n)
    return fmt::format("{} is opaque and is cut in n alone", it.name);
  if (it.output[dim] == 1) return fmt::format("{} has nothing to cut in {}", it.name, name(dim));
  return fmt::format("{} has {} {}, fewer than {} parts", it.name, it.output[dim], word(dim),
                     degree);
}

std::string too_many(const Degrees& degrees, std::size_t devices) {
  const std::int64_t shards = product(degrees);
  if (shards <= static_cast<std::int64_t>(devices)) return {};
  std::string factors;
  for (const Dim dim : kDims) {
    if (degrees[dim] == 1) continue;
    factors += fmt::format("{}{}={}", factors.empty() ? "" : " x ", name(dim), degrees[dim]);
  }
  if (degrees.r > 1) factors += fmt::format("{}r={}", factors.empty() ? "" : " x ", degrees.r);
  return fmt::format("{} are {} shards; the cluster has {} devices", factors, shards, devices);
}

}  // namespace

std::vector<std::int32_t> offered_degrees(std::size_t devices, std::span<const Degrees> now) {
  const bool pow2 = usual_degrees(devices) == DegreeSet::pow2, all = devices <= kFewDevices;
  std::vector<std::int32_t> degrees;
  for (const Degrees& cut : now) {
    degrees.insert(degrees.end(), cut.values.begin(), cut.values.end());
  }
  for (std::size_t degree = 1; degree <= devices; pow2 ? degree *= 2 : ++degree) {
    if (all || pow2 || devices % degree == 0) degrees.push_back(static_cast<std::int32_t>(degree));
  }
  std::sort(degrees.begin(), degrees.end());
  degrees.erase(std::unique(degrees.begin(), degrees.end()), degrees.end());
  return degrees;
}

std::vector<DegreeChoice> degree_choices(const Case& input, std::span<const LayerId> layers,
                                         Dim dim, std::span<const Degrees> now) {
  std::vector<DegreeChoice> choices;
  for (const std::int32_t degree : offered_degrees(input.cluster.device_count(), now)) {
    std::string reason = too_fine(input.graph, narrowest(input.graph, layers, dim), dim, degree);
    for (std::size_t i = 0; i < layers.size() && reason.empty(); ++i) {
      Degrees degrees = now[i];
      degrees[dim] = degree;
      reason = why_not(input, layers.subspan(i, 1), degrees);
    }
    choices.push_back({degree, reason});
  }
  return choices;
}

std::string why_not(const Case& input, std::span<const LayerId> layers, const Degrees& degrees) {
  for (const Dim dim : kDims) {
    const LayerId layer = narrowest(input.graph, layers, dim);
    std::string reason = too_fine(input.graph, layer, dim, degrees[dim]);
    if (!reason.empty()) return reason;
  }
  for (const LayerId layer : layers) {
    if (degrees.r == 1 || may_scatter(input.graph[layer], degrees)[degrees.scatter]) continue;
    return fmt::format("{} is cut in r and its sums are divided in {}: together too many parts",
                       input.graph[layer].name, name(degrees.scatter));
  }
  return too_many(degrees, input.cluster.device_count());
}

}  // namespace strata::gui
