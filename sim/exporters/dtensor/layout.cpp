#include "sim/exporters/dtensor/layout.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/exporters/dtensor/torch_limits.h"
#include "sim/strategy/config_text.h"
#include "sim/strategy/search_space.h"

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

/// Which of the devices a part of a cut runs over: from the device `begin` on in steps of `begin`,
/// up to before `end`.
struct Run {
  Dim dim = Dim::n;    ///< of the output, as it lies in the end
  bool terms = false;  ///< shards that differ in it differ in the reduction
  std::int64_t begin = 1, end = 1;
};

// Shards of one sum stand side by side along the dim in which they are scattered.
std::vector<Run> runs_of(const Cut& cut) {
  std::vector<Run> runs;
  for (Dim dim : kDims) {
    const std::int64_t r = dim == cut.degrees.scatter ? cut.degrees.r : 1;
    const std::int64_t first = cut.strides[dim];
    if (r > 1) runs.push_back({dim, true, first, first * r});
    if (cut.degrees[dim] > 1) runs.push_back({dim, false, first * r, first * r * cut.degrees[dim]});
  }
  return runs;
}

Steps joined(const Steps& steps, const Cut& cut) {
  Steps all = steps;
  for (const Run& run : runs_of(cut)) {
    all.push_back(run.begin);
    all.push_back(run.end);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// The cuts of the strategy that strides place, those of most layers first.
std::vector<Cut> cuts_by_use(const Graph& graph, const Strategy& strategy) {
  std::vector<std::pair<Cut, std::size_t>> uses;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const std::optional<Cut> cut = cut_of(strategy[LayerId(i)]);
    if (is_input(graph[LayerId(i)].op) || !cut) continue;
    const auto known =
        std::find_if(uses.begin(), uses.end(), [&](const auto& use) { return use.first == *cut; });
    known == uses.end() ? uses.emplace_back(*cut, 1).second : ++known->second;
  }
  std::stable_sort(uses.begin(), uses.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<Cut> cuts;
  cuts.reserve(uses.size());
  for (const auto& [cut, count] : uses) cuts.push_back(cut);
  return cuts;
}

Steps mesh_steps(const Graph& graph, const Strategy& strategy, std::int64_t devices) {
  Steps steps = {1, devices};
  if (devices == 1) steps.pop_back();
  for (const Cut& cut : cuts_by_use(graph, strategy)) {
    Steps more = joined(steps, cut);
    if (is_chain(more) && more.back() == devices) steps = std::move(more);
  }
  return steps;
}

std::vector<std::int64_t> extents_of(const Steps& steps) {
  std::vector<std::int64_t> mesh;
  for (std::size_t i = steps.size() - 1; i > 0; --i) mesh.push_back(steps[i] / steps[i - 1]);
  if (mesh.empty()) mesh.push_back(1);
  return mesh;
}

LayerLayout whole_on(std::size_t mesh_dims) {
  return {true, {mesh_dims, std::nullopt}, std::vector<bool>(mesh_dims), {}};
}
LayerLayout refused(std::string why) {
  return {false, {}, {}, {std::move(why)}};
}

LayerLayout lay_out(const Graph& graph, LayerId id, const Config& config, const Steps& steps,
                    std::int64_t devices) {
  const std::optional<Cut> cut = cut_of(config);
  if (!cut) return refused("its shards lie on the devices in an order that no mesh has");
  if (joined(steps, *cut) != steps) {
    return refused(fmt::format("{} does not fit the mesh {}", config_text(config.degrees),
                               fmt::join(extents_of(steps), " x ")));
  }
  const std::vector<std::int64_t> mesh = extents_of(steps);
  LayerLayout layout = whole_on(mesh.size());
  const bool copies = graph[id].reduction == 1;
  for (const Run& run : runs_of(*cut)) {
    if (run.terms && copies) continue;
    for (std::size_t i = steps.size() - 1; i > 0; --i) {
      if (steps[i - 1] < run.begin || steps[i] > run.end) continue;
      layout.cuts[steps.size() - 1 - i] = run.dim;
      layout.terms[steps.size() - 1 - i] = run.terms;
    }
  }
  if (std::string why = why_no_dtensor(graph, id, layout, mesh, config.degrees); !why.empty()) {
    return refused(std::move(why));
  }
  layout.limits = dtensor_limits(graph, id, config.degrees, devices);
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
                                ? whole_on(layout.mesh.size())
                                : lay_out(graph, LayerId(i), strategy[LayerId(i)], steps, count));
  }
  return layout;
}

}  // namespace strata
