#include "gui/models/why/explained.h"

#include <algorithm>
#include <optional>

#include "sim/study/search/memory_floor.h"

namespace strata::gui {
namespace {

// The other layers as the strategy cuts them; those whose cut no search knows are left out, so that
// what is said stays a least.
std::vector<Bytes> memory_by_choice(const Case& input, const Strategy& strategy, LayerId layer) {
  SearchSpace space(input.graph, input.cluster);
  const std::uint32_t asked = *space.variable_of(layer);
  std::vector<bool> known(space.size(), true);
  for (std::uint32_t v = 0; v < space.size(); ++v) {
    if (v == asked) continue;
    const std::optional<Cut> cut = space.choice_for(space[v].leader, strategy[space[v].leader]);
    known[v] = cut.has_value();
    if (cut) space = space.fixed(v, *cut);
  }
  const auto floor = memory_floor(input.graph, input.dtypes, space);
  std::int64_t others = 0;
  for (std::uint32_t v = 0; v < space.size(); ++v) {
    if (v != asked && known[v]) others += floor[v].front();
  }
  std::vector<Bytes> memory;
  for (const std::int64_t own : floor[asked]) memory.push_back(Bytes{others + own});
  return memory;
}

Bytes least_capacity(const Case& input) {
  Bytes least = input.models.front()->memory_capacity();
  for (const auto& model : input.models) least = std::min(least, model->memory_capacity());
  return least;
}

SolveLimits limits_of(const std::atomic<bool>* cancelled) {
  SolveLimits limits;
  limits.cancelled = cancelled;
  return limits;
}

}  // namespace

ExplainedPtr explained(const ScenePtr& scene, LayerId layer, const std::atomic<bool>* cancelled) {
  const Strategy& strategy = scene->prediction.strategy;
  return std::make_shared<const Explained>(
      Explained{scene, layer, explain(scene->input, {}, strategy, layer, limits_of(cancelled)),
                memory_by_choice(scene->input, strategy, layer), least_capacity(scene->input)});
}

ToldPtr told(const ScenePtr& scene, const std::atomic<bool>* cancelled) {
  return std::make_shared<const Told>(
      Told{scene, tell(scene->input, scene->document.input, {}, scene->prediction.strategy,
                       limits_of(cancelled))});
}

}  // namespace strata::gui
