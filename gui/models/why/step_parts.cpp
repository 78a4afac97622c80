#include "gui/models/why/step_parts.h"

#include <utility>

#include <fmt/format.h>

#include "sim/timeline/breakdown.h"

namespace strata::gui {
namespace {

constexpr std::size_t kMostStages = 16;  // whose bars somebody would compare

PartsBar bar_of(std::string name, const StepParts& parts) {
  return {std::move(name),
          {parts.compute, parts.recompute, parts.optimizer, parts.exposed.transfer,
           parts.exposed.reduce, parts.exposed.gather, parts.exposed.statistics, parts.launch,
           parts.bubble}};
}

// The means over the devices of each stage.
std::vector<PartsBar> bars_of_stages(const StageNames& stages, const Breakdown& breakdown) {
  std::vector<PartsBar> bars(stages.count());
  std::vector<std::size_t> devices(stages.count());
  for (std::size_t d = 0; d < breakdown.devices.size(); ++d) {
    const auto stage = stages.stage_of(DeviceId(d));
    if (!stage) continue;
    ++devices[*stage];
    const PartsBar own = bar_of({}, breakdown.devices[d]);
    for (std::size_t i = 0; i < kStepPartCount; ++i) bars[*stage].parts[i] += own.parts[i];
  }
  for (std::size_t stage = 0; stage < bars.size(); ++stage) {
    bars[stage].name = fmt::format("stage {}", stage + 1);
    for (Seconds& part : bars[stage].parts)
      part = (1.0 / static_cast<double>(devices[stage])) * part;
  }
  return bars;
}

}  // namespace

std::string_view name(StepPart part) {
  constexpr std::array<std::string_view, kStepPartCount> kNames = {"compute",
                                                                   "recompute",
                                                                   "optimizer",
                                                                   "exposed transfers",
                                                                   "exposed gradient sums",
                                                                   "exposed gathers",
                                                                   "exposed statistics",
                                                                   "launch",
                                                                   "bubble"};
  return kNames[static_cast<std::size_t>(part)];
}

PartsOfStepPtr parts_of_step(const ScenePtr& scene) {
  const Prediction& prediction = scene->prediction;
  const bool known = !prediction.breakdown.devices.empty();
  const Breakdown found =
      known ? prediction.breakdown : breakdown(prediction.plan, prediction.timeline);
  auto result = std::make_shared<PartsOfStep>(
      PartsOfStep{scene, prediction.step_seconds(), {bar_of("a device's step", found.mean)}});
  const StageNames& stages = scene->stages;
  if (stages.several() && stages.count() <= kMostStages) {
    for (PartsBar& bar : bars_of_stages(stages, found)) result->bars.push_back(std::move(bar));
  }
  return result;
}

}  // namespace strata::gui
