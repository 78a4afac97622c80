#include "sim/study/search/step_bound.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "sim/base/cancel.h"
#include "sim/base/parallel.h"
#include "sim/cost/layer_costs.h"
#include "sim/engine/tick.h"
#include "sim/graph/regions.h"
#include "sim/graph/step_phases.h"
#include "sim/plan/lower.h"

namespace strata {
namespace {

/// Ticks are rounded to the nearest, and sums of seconds in their last bits.
constexpr double kRounding = 1 / kTicksPerSecond;
/// Each leaves two thirds of the weights.
constexpr int kSearchSteps = 60;

// What devices compute of layers in a step.
class Computation {
 public:
  explicit Computation(const Case& input)
      : input_(input),
        needs_gradient_(requires_gradient(input.graph)),
        costs_(input.graph, input.dtypes.values) {}

  /// 0 where the device has no shard.
  double seconds(LayerId layer, const Cut& cut, DeviceId device) {
    const auto shard = shard_on(cut, device);
    if (!shard) return 0;
    const PhaseSet phases = step_phases(input_.graph, layer, needs_gradient_);
    const Tile tile = partition(input_.graph[layer], cut.degrees).tile(*shard);
    const PhaseCosts& costs = costs_(layer, tile, *input_.models[device()]);
    double sum = 0;
    for (std::size_t phase = 0; phase < kKernelPhases; ++phase) {
      if (!phases[static_cast<Phase>(phase)]) continue;
      if (static_cast<Phase>(phase) == Phase::update && may_update_elsewhere(cut)) continue;
      const double seconds = costs[phase].seconds.value / input_.cluster[device].speed;
      sum += std::max(0.0, seconds - kRounding);
    }
    return sum;
  }

 private:
  static std::optional<std::int64_t> shard_on(const Cut& cut, DeviceId device) {
    if (device() == 0) return 0;
    if (static_cast<std::int64_t>(device()) >= cut.shards()) return std::nullopt;
    const std::vector<DeviceId> devices = config_of(cut).devices;
    const auto at = std::find(devices.begin(), devices.end(), device);
    return at - devices.begin();
  }

  // A parameter server does it for all replicas.
  bool may_update_elsewhere(const Cut& cut) const {
    const SyncAlgorithm sync = input_.sync.algorithm;
    const bool picks = sync == SyncAlgorithm::automatic && input_.sync.bucket_in_use() == Bytes{};
    if (sync != SyncAlgorithm::ps && !picks) return false;
    return replica_shards(cut.degrees).front().size() > 1;
  }

  const Case& input_;
  const std::vector<bool> needs_gradient_;
  LayerCosts costs_;
};

}  // namespace

StepBound::StepBound(const Case& input, const SearchSpace& space, const SolveLimits& limits)
    : loads_(space.size()) {
  const DeviceId first(0u), last(input.cluster.device_count() - 1);
  const unsigned workers = limits.threads > 0 ? limits.threads : core_count();
  std::deque<Computation> computations;  // by worker
  for (unsigned i = 0; i < workers; ++i) computations.emplace_back(input);
  parallel_for(space.size(), limits.threads, [&](std::size_t v, unsigned worker) {
    for (const Cut& cut : *space[v].cuts) {
      throw_if_cancelled(limits.cancelled);
      Loads loads{};
      for (const LayerId layer : space[v].layers) {
        // A layer that follows another one is cut as that one's output lies.
        const Cut own = layer == space[v].leader ? cut : output_cut(cut);
        loads[0] += computations[worker].seconds(layer, own, first);
        loads[1] += last == first ? 0 : computations[worker].seconds(layer, own, last);
      }
      loads_[v].push_back(loads);
    }
  });
  // The least mean is a concave function of the weight.
  double low = 0, high = 1;
  for (int i = 0; i < kSearchSteps; ++i) {
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    const Seconds at_a = least_mean(a), at_b = least_mean(b);
    (at_a < at_b ? low : high) = at_a < at_b ? a : b;
    least_ = std::max({least_, at_a, at_b});
  }
  least_ = std::max({least_, least_mean(0), least_mean(1)});
}

Seconds StepBound::least_mean(double weight_of_first) const {
  double sum = 0;
  for (const auto& loads : loads_) {
    double least = kInfinity;
    for (const Loads& load : loads) {
      least = std::min(least, weight_of_first * load[0] + (1 - weight_of_first) * load[1]);
    }
    sum += least;
  }
  return {sum};
}

Seconds StepBound::of(const Choices& choices) const {
  Loads sum{};
  for (std::size_t v = 0; v < choices.size(); ++v) {
    for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += loads_[v][choices[v]][d];
  }
  return {std::max(sum[0], sum[1])};
}

}  // namespace strata
