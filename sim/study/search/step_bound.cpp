#include "sim/study/search/step_bound.h"

#include <algorithm>

#include "sim/cost/layer_costs.h"
#include "sim/engine/tick.h"
#include "sim/graph/regions.h"
#include "sim/graph/step_phases.h"

namespace strata {
namespace {

// What the first device computes of a layer in a step.
class FirstDevice {
 public:
  explicit FirstDevice(const Case& input)
      : input_(input),
        needs_gradient_(requires_gradient(input.graph)),
        costs_(input.graph, input.dtypes.values) {}

  double seconds(LayerId layer, const Degrees& degrees) {
    const PhaseSet phases = step_phases(input_.graph, layer, needs_gradient_);
    const Partition cut = partition(input_.graph[layer], degrees);
    const PhaseCosts& costs = costs_(layer, cut.tile(0), *input_.models.front());
    double sum = 0;
    for (std::size_t phase = 0; phase < kKernelPhases; ++phase) {
      if (!phases[static_cast<Phase>(phase)]) continue;
      if (static_cast<Phase>(phase) == Phase::update && may_update_elsewhere()) continue;
      const double seconds = costs[phase].seconds.value / input_.cluster[DeviceId(0u)].speed;
      sum += std::max(0.0, seconds - kRounding);
    }
    return sum;
  }

 private:
  // Ticks are rounded to the nearest, sums of seconds in their last bits.
  static constexpr double kRounding = 1 / kTicksPerSecond;

  bool may_update_elsewhere() const {
    return input_.sync.algorithm == SyncAlgorithm::ps ||
           input_.sync.algorithm == SyncAlgorithm::automatic;
  }

  const Case& input_;
  const std::vector<bool> needs_gradient_;
  LayerCosts costs_;
};

}  // namespace

StepBound::StepBound(const Case& input, const SearchSpace& space) {
  FirstDevice device(input);
  for (std::size_t v = 0; v < space.size(); ++v) {
    std::vector<double>& seconds = seconds_.emplace_back();
    for (const Cut& cut : *space[v].cuts) {
      double sum = 0;
      for (const LayerId layer : space[v].layers) sum += device.seconds(layer, cut.degrees);
      seconds.push_back(sum);
    }
  }
}

Seconds StepBound::least() const {
  Seconds sum;
  for (const auto& seconds : seconds_) {
    sum += Seconds{*std::min_element(seconds.begin(), seconds.end())};
  }
  return sum;
}

Seconds StepBound::of(const Choices& choices) const {
  Seconds sum;
  for (std::size_t v = 0; v < choices.size(); ++v) sum += Seconds{seconds_[v][choices[v]]};
  return sum;
}

}  // namespace strata
