#include "sim/case/few_rounds.h"

#include <algorithm>
#include <vector>

#include "sim/strategy/stages.h"

namespace strata {
namespace {

// What a stage computes of a round, of one of its devices.
std::vector<Seconds> loads(const Case& input, const Strategy& strategy, const Stages& stages,
                           LayerCosts& costs) {
  std::vector<Seconds> loads(stages.stages());
  for (std::size_t i = 0; i < input.graph.size(); ++i) {
    const LayerId layer(i);
    const Config& config = strategy[layer];
    if (is_input(input.graph[layer].op)) continue;
    const CostModel& model = *input.models[config.devices[0]()];
    Seconds& load = loads[stages.chunk_of(layer).stage];
    for (const Cost& cost : costs.of_shards(layer, config)(0, model)) load += cost.seconds;
  }
  return loads;
}

// The stage that all wait for, if it is neither the first nor the last: then the stages before it
// fall behind it and catch up by turns, in almost as many rounds as there are stages.
bool waits_for_the_middle(const std::vector<Seconds>& loads) {
  constexpr double kEqual = 1 - 1e-6;
  const Seconds most = *std::max_element(loads.begin(), loads.end());
  return loads.front() < kEqual * most && loads.back() < kEqual * most;
}

}  // namespace

std::optional<FewRounds> few_rounds(const Case& input, const Strategy& strategy,
                                    LayerCosts& costs) {
  if (!input.schedule.own.empty()) return std::nullopt;
  const Stages stages = stages_of(input.graph, strategy);
  const Pipeline pipeline = pipeline_of(input.graph, stages);
  const ScheduleKind kind = input.schedule.kind.value_or(usual_schedule(pipeline));
  const auto count = static_cast<std::uint32_t>(pipeline.stages);
  switch (kind) {
    case ScheduleKind::gpipe:
      return std::nullopt;
    case ScheduleKind::interleaved:
      if (input.rounds % count != 0) return std::nullopt;
      return FewRounds{3 * count, count, count};
    case ScheduleKind::one_f_one_b:
    case ScheduleKind::zb_h1:
      if (input.schedule.overlap != PassOverlap::none) return FewRounds{2 * count + 4, 1, 1};
      if (count > 3 && waits_for_the_middle(loads(input, strategy, stages, costs))) {
        return FewRounds{2 * count + 2, count - 2, 1};
      }
      return FewRounds{count + 4, 1, 1};
    case ScheduleKind::zb_v:
      return FewRounds{3 * count + 2, 1, 1};
  }
  return std::nullopt;
}

}  // namespace strata
