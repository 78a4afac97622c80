#include "sim/exporters/dtensor/layout.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "sim/exporters/dtensor/torch_limits.h"
#include "sim/strategy/config_text.h"

namespace strata {
namespace {

/// Numbers of devices, each a divisor of the next: between two of them lies a dim of the mesh.
using Steps = std::vector<std::int64_t>;

bool is_chain(const Steps& steps) {
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (steps[i] % steps[i - 1] != 0) return false;
  }
  return true;
}

// Over how many devices the cut's dims run: the fastest (w), it and the next, and so on.
std::array<std::int64_t, kDims.size()> runs_of(const Degrees& degrees) {
  std::array<std::int64_t, kDims.size()> runs{};
  std::int64_t run = 1;
  for (std::size_t k = kDims.size(); k-- > 0;) runs[k] = run *= degrees.values[k];
  return runs;
}

Steps joined(const Steps& steps, const Degrees& degrees) {
  Steps all = steps;
  for (const std::int64_t run : runs_of(degrees)) all.push_back(run);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// The cuts of the strategy, those of most layers first.
std::vector<Degrees> cuts_by_use(const Graph& graph, const Strategy& strategy) {
  std::vector<std::pair<Degrees, std::size_t>> uses;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (is_input(graph[LayerId(i)].op)) continue;
    const Degrees& degrees = strategy[LayerId(i)].degrees;
    const auto known = std::find_if(uses.begin(), uses.end(),
                                    [&](const auto& use) { return use.first == degrees; });
    known == uses.end() ? uses.emplace_back(degrees, 1).second : ++known->second;
  }
  std::stable_sort(uses.begin(), uses.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<Degrees> cuts;
  cuts.reserve(uses.size());
  for (const auto& [degrees, count] : uses) cuts.push_back(degrees);
  return cuts;
}

Steps mesh_steps(const Graph& graph, const Strategy& strategy, std::int64_t devices) {
  Steps steps = joined({devices}, kWhole);
  for (const Degrees& degrees : cuts_by_use(graph, strategy)) {
    Steps more = joined(steps, degrees);
    if (is_chain(more) && more.back() == devices) steps = std::move(more);
  }
  return steps;
}

bool fits(const Steps& steps, const Degrees& degrees) {
  return joined(steps, degrees) == steps;
}

// Which dim of the cut the devices from `step` on run over; none beyond its last shard.
std::optional<Dim> dim_at(const Degrees& degrees, std::int64_t step) {
  const auto runs = runs_of(degrees);
  for (std::size_t k = kDims.size(); k-- > 0;) {
    if (step < runs[k]) return kDims[k];
  }
  return std::nullopt;
}

std::vector<std::int64_t> extents_of(const Steps& steps) {
  std::vector<std::int64_t> mesh;
  for (std::size_t i = steps.size() - 1; i > 0; --i) mesh.push_back(steps[i] / steps[i - 1]);
  if (mesh.empty()) mesh.push_back(1);
  return mesh;
}

LayerLayout lay_out(const Graph& graph, LayerId layer, const Config& config, const Steps& steps,
                    std::int64_t devices) {
  if (config.degrees.r > 1) {
    return {false, {}, {"cut in r: DTensor has its output as Partial sums, which are not written"}};
  }
  if (config != config_on_first_devices(config.degrees)) {
    return {false, {}, {"its shards lie on other devices than the first, or in another order"}};
  }
  if (!fits(steps, config.degrees)) {
    return {false,
            {},
            {fmt::format("{} does not fit the mesh {}", config_text(config.degrees),
                         fmt::join(extents_of(steps), " x "))}};
  }
  LayerLayout layout;
  for (std::size_t i = steps.size() - 1; i > 0; --i) {
    layout.cuts.push_back(dim_at(config.degrees, steps[i - 1]));
  }
  if (layout.cuts.empty()) layout.cuts.emplace_back();
  layout.limits = dtensor_limits(graph, layer, config.degrees, devices);
  return layout;
}

}  // namespace

DTensorLayout dtensor_layout(const Graph& graph, const Strategy& strategy, std::size_t devices) {
  const auto count = static_cast<std::int64_t>(devices);
  const Steps steps = mesh_steps(graph, strategy, count);
  DTensorLayout layout{extents_of(steps), {}};
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Layer& layer = graph[LayerId(i)];
    layout.layers.push_back(is_input(layer.op)
                                ? LayerLayout{true, {layout.mesh.size(), std::nullopt}, {}}
                                : lay_out(graph, LayerId(i), strategy[LayerId(i)], steps, count));
  }
  return layout;
}

}  // namespace strata
