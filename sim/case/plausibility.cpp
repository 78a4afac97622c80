#include "sim/case/plausibility.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/text/units.h"

namespace strata {
namespace {

// "a100, h100 in bf16".
std::string devices_of(const Case& input) {
  std::set<std::string> kinds;
  for (const Device& device : input.cluster.devices()) kinds.insert(device.kind);
  return fmt::format("{} in {}", fmt::join(kinds, ", "), name(input.dtypes.values));
}

// Of all devices together, weighed by their peaks; nothing where a kind has no figure.
std::optional<double> highest_published(const Case& input) {
  const DType dtype = input.dtypes.values;
  double published = 0, possible = 0;
  for (std::size_t i = 0; i < input.models.size(); ++i) {
    const auto peak = input.models[i]->peak(dtype);
    const auto mfu = input.models[i]->published_mfu(dtype);
    if (!peak || !mfu) return std::nullopt;
    const double most = peak->value * input.cluster[DeviceId(i)].speed;
    published += *mfu * most;
    possible += most;
  }
  return published / possible;
}

// Kernels that a what-if makes faster may be faster than the device.
bool has_faster_layers(const Case& input) {
  return std::ranges::any_of(input.graph.layers(),
                             [](const Layer& layer) { return layer.speed > 1; });
}

// As it is told. What reads the same is no better.
long whole_percent(double share) {
  return std::lround(100 * share);
}

}  // namespace

Plausibility plausibility(const Case& input, const FlopsUtilisation& used, Seconds step) {
  constexpr double kRounding = 1e-6;
  if (used.least > 1 + kRounding && !has_faster_layers(input)) {
    return {false, fmt::format("the step takes {}, and its arithmetic {} at the peak of {}",
                               format_seconds(step), format_seconds(step * used.least),
                               devices_of(input))};
  }
  const std::optional<double> highest = highest_published(input);
  if (highest && whole_percent(used.model) > whole_percent(*highest)) {
    return {false,
            fmt::format("MFU {} % is above any published figure for {} ({} %)",
                        whole_percent(used.model), devices_of(input), whole_percent(*highest))};
  }
  if (used.model <= 1 || has_faster_layers(input)) return {};
  return {true,
          fmt::format("MFU {} % counts multiplications that convolutions by Winograd's method "
                      "do without",
                      whole_percent(used.model))};
}

std::optional<Plausibility> plausibility(const Case& input, const Strategy& strategy,
                                         Seconds step) {
  const auto used = flops_utilisation(input, strategy, step);
  return used ? std::optional(plausibility(input, *used, step)) : std::nullopt;
}

}  // namespace strata
