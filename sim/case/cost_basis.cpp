#include "sim/case/cost_basis.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata {

std::vector<CostBasis> cost_basis(const Case& input, const Prediction& prediction) {
  // Equal costs are counted, so that a plan by classes adds up what one of all devices does. Rounds
  // that are simulated stand for all; updates come once.
  using Key = std::tuple<std::string_view, Phase, CostSource>;
  std::map<Key, std::map<double, double>> counts;
  const double rounds = static_cast<double>(prediction.rounds) /
                        static_cast<double>(std::max<std::uint32_t>(1, prediction.plan.rounds()));
  for (std::size_t i = 0; i < prediction.costs.size(); ++i) {
    const Task& task = prediction.plan[TaskId(i)];
    const Cost& cost = prediction.costs[i];
    const bool computes = task.kind == TaskKind::compute && task.layer.valid();
    if (!computes || cost.seconds <= Seconds{}) continue;
    const auto members = static_cast<double>(prediction.plan.members(task.device));
    counts[{name(input.graph[task.layer].op), task.phase, cost.source}][cost.seconds.value] +=
        task.phase == Phase::update ? members : members * rounds;
  }
  std::vector<CostBasis> basis;
  double total = 0;
  for (const auto& [key, times] : counts) {
    const auto& [op, phase, source] = key;
    double seconds = 0;
    for (const auto& [each, count] : times) seconds += each * count;
    basis.push_back({std::string(op), phase, source, seconds});
    total += seconds;
  }
  for (CostBasis& each : basis) each.share /= total;
  std::stable_sort(basis.begin(), basis.end(),
                   [](const CostBasis& a, const CostBasis& b) { return a.share > b.share; });
  return basis;
}

std::string rests_on_text(const CostSources& sources) {
  const double sum = sources.total().value;
  if (sum <= 0) return "";
  return fmt::format(
      "Compute time rests on: {:.0f}% measured, {:.0f}% interpolated, {:.0f}% related, {:.0f}% "
      "analytic costs",
      100 * sources.measured.value / sum, 100 * sources.interpolated.value / sum,
      100 * sources.related.value / sum, 100 * sources.analytic.value / sum);
}

std::string not_measured_text(const Case& input, const Prediction& prediction) {
  constexpr std::size_t kListed = 4;
  constexpr double kLeast = 0.01;
  std::vector<std::string> parts;
  double others = 0;
  for (const CostBasis& basis : cost_basis(input, prediction)) {
    if (basis.source < CostSource::related) continue;
    if (parts.size() == kListed || basis.share < kLeast) {
      others += basis.share;
      continue;
    }
    parts.push_back(fmt::format("{:.0f}% {} {} ({})", 100 * basis.share, basis.op,
                                name(basis.phase), name(basis.source)));
  }
  if (parts.empty()) return "";
  if (others >= kLeast) parts.push_back(fmt::format("{:.0f}% others", 100 * others));
  std::set<std::string> kinds;
  for (const Device& device : input.cluster.devices()) kinds.insert(device.kind);
  return fmt::format("Not measured on {} in {}: {}", fmt::join(kinds, ", "),
                     name(input.dtypes.values), fmt::join(parts, ", "));
}

namespace {

// 0 of nothing.
double part_of(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

}  // namespace

Uncosted uncosted(const Graph& graph) {
  Uncosted found;
  double activations = 0, parameters = 0;
  for (const Layer& layer : graph.layers()) {
    if (is_input(layer.op)) continue;
    const auto made = static_cast<double>(volume(layer.output));
    const auto held = static_cast<double>(layer.held().total());
    activations += made, parameters += held;
    const auto* opaque = std::get_if<Opaque>(&layer.op);
    if (opaque == nullptr || !opaque->uncosted) continue;
    ++found.layers;
    found.activations += made, found.parameters += held;
    if (std::ranges::find(found.ops, opaque->kind) == found.ops.end())
      found.ops.push_back(opaque->kind);
  }
  found.activations = part_of(found.activations, activations);
  found.parameters = part_of(found.parameters, parameters);
  return found;
}

}  // namespace strata
