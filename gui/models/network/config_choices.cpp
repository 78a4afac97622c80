#include "gui/models/network/config_choices.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/graph/regions.h"
#include "sim/strategy/config_text.h"
#include "sim/strategy/search_space.h"

namespace strata::gui {
namespace {

constexpr std::size_t kFewDevices = 16;

/// The layer that has the least along an axis: where it can be cut, all can.
LayerId narrowest(const Graph& graph, std::span<const LayerId> layers, CutAxis axis) {
  return *std::min_element(layers.begin(), layers.end(), [&](LayerId a, LayerId b) {
    return most_parts_along(graph[a], axis) < most_parts_along(graph[b], axis);
  });
}

std::string too_fine(const Graph& graph, LayerId layer, CutAxis axis, std::int32_t degree) {
  const Layer& it = graph[layer];
  if (degree <= most_parts_along(it, axis)) return {};
  if (!axis && degree <= most_parts_of_sums(it)) return {};  // copies, which a file may say
  if (!axis) {
    if (it.reduction == 1)
      return fmt::format("{} has no terms to divide, {}", it.name, why_no_more_terms(it));
    return fmt::format("{} has {} input channels, fewer than {} parts", it.name, it.reduction,
                       degree);
  }
  const Dim dim = *axis;
  if (is_opaque(it.op) && dim != Dim::n)
    return fmt::format("{} is opaque and is cut in n alone", it.name);
  if (it.output[dim] == 1) return fmt::format("{} has nothing to cut in {}", it.name, name(dim));
  return fmt::format("{} has {} {}, fewer than {} parts", it.name, it.output[dim],
                     dim_words(graph, layer, dim).parts, degree);
}

// Others have no sums, and are not asked.
std::vector<LayerId> with_axis(const Graph& graph, std::span<const LayerId> layers, CutAxis axis) {
  std::vector<LayerId> those(layers.begin(), layers.end());
  if (!axis) std::erase_if(those, [&](LayerId layer) { return graph[layer].reduction == 1; });
  return those;
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
    degrees.push_back(cut.r);
  }
  for (std::size_t degree = 1; degree <= devices; pow2 ? degree *= 2 : ++degree) {
    if (all || pow2 || devices % degree == 0) degrees.push_back(static_cast<std::int32_t>(degree));
  }
  std::sort(degrees.begin(), degrees.end());
  degrees.erase(std::unique(degrees.begin(), degrees.end()), degrees.end());
  return degrees;
}

std::int32_t degree_along(const Degrees& degrees, CutAxis axis) {
  return axis ? degrees[*axis] : degrees.r;
}

Degrees with_degree(const Layer& layer, Degrees degrees, CutAxis axis, std::int32_t degree) {
  if (axis) {
    degrees[*axis] = degree;
    return degrees;
  }
  if (degrees.r == degree || layer.reduction == 1) return degrees;
  degrees.r = degree;
  degrees.scatter = Dim::n;
  if (degree == 1) return degrees;
  const PerDim<bool> may = may_scatter(layer, degrees);
  const auto room = std::find_if(kDims.begin(), kDims.end(), [&](Dim dim) { return may[dim]; });
  if (room != kDims.end()) degrees.scatter = *room;
  return degrees;
}

std::int64_t most_parts_along(const Layer& layer, CutAxis axis) {
  return axis ? most_parts(layer)[*axis] : layer.reduction;
}

std::vector<DegreeChoice> degree_choices(const Case& input, std::span<const LayerId> layers,
                                         CutAxis axis, std::span<const Degrees> now) {
  std::vector<DegreeChoice> choices;
  for (const std::int32_t degree : offered_degrees(input.cluster.device_count(), now)) {
    std::string reason;
    const std::vector<LayerId> these = with_axis(input.graph, layers, axis);
    if (!these.empty()) {
      reason = too_fine(input.graph, narrowest(input.graph, these, axis), axis, degree);
    } else if (degree > 1) {
      reason = fmt::format("{} has no sums to divide", input.graph[layers.front()].name);
    }
    for (std::size_t i = 0; i < layers.size() && reason.empty(); ++i) {
      reason = why_not(input, layers.subspan(i, 1),
                       with_degree(input.graph[layers[i]], now[i], axis, degree));
    }
    choices.push_back({degree, reason});
  }
  return choices;
}

std::string why_not(const Case& input, std::span<const LayerId> layers, const Degrees& degrees) {
  for (const CutAxis axis : kCutAxes) {
    const LayerId layer = narrowest(input.graph, layers, axis);
    std::string reason = too_fine(input.graph, layer, axis, degree_along(degrees, axis));
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
