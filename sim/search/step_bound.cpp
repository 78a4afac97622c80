#include "sim/search/step_bound.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "sim/base/cancel.h"
#include "sim/base/parallel.h"
#include "sim/engine/tick.h"
#include "sim/search/bound_sums.h"
#include "sim/search/shard_times.h"

namespace strata {
namespace {

/// Each leaves two thirds of the weights.
constexpr int kSearchSteps = 60;
/// Choices that make a step so much longer than the best of them do not decide the bound.
constexpr double kFarFromBest = 0.2;
/// Each phase and each flow is rounded to the nearest tick, and sums in their last bits.
constexpr double kRoundings = 64, kRelativeRounding = 1e-9;

// Of a variable: its layers as one that costs the same, and how they may be cut.
using Signature = std::vector<std::pair<LayerId, const Cuts*>>;

// By variable: the first whose layers take what its own take however they are cut.
std::vector<std::size_t> first_equal_variables(const SearchSpace& space, const ShardTimer& timer) {
  std::map<Signature, std::size_t> known;
  std::vector<std::size_t> first;
  for (std::size_t v = 0; v < space.size(); ++v) {
    Signature signature;
    for (const LayerId layer : space[v].layers) {
      signature.emplace_back(timer.first_equal(layer), space.cuts_of(layer).get());
    }
    first.push_back(known.try_emplace(std::move(signature), v).first->second);
  }
  return first;
}

Seconds rounded_down(double seconds, const Case& input) {
  const double ticks =
      kRoundings * static_cast<double>(input.graph.size() + 1) * static_cast<double>(input.rounds);
  return {std::max(0.0, (1 - kRelativeRounding) * seconds - ticks / kTicksPerSecond)};
}

}  // namespace

StepBound::StepBound(const Case& input, const SearchSpace& space, const SolveLimits& limits)
    : loads_(space.size()) {
  find_loads(input, space, limits);
  const double weight = find_least();
  if (!has_bound_sums(input, space)) return;
  const BoundSums sums =
      bound_sums(input, space, excess(weight), kFarFromBest * least_.value, limits);
  const double largest = largest_least_mean(sums, [&] { throw_if_cancelled(limits.cancelled); });
  least_ = std::max(least_, rounded_down(largest, input));
}

// Variables whose layers are equal, as in the blocks of a transformer, have equal loads: those of
// the first of them are found.
void StepBound::find_loads(const Case& input, const SearchSpace& space, const SolveLimits& limits) {
  const DeviceId first(0u), last(input.cluster.device_count() - 1);
  const unsigned workers = limits.threads > 0 ? limits.threads : core_count();
  std::deque<ShardTimer> timers;  // by worker
  for (unsigned i = 0; i < workers; ++i) timers.emplace_back(input);
  const std::vector<std::size_t> equal = first_equal_variables(space, timers.front());
  parallel_for(space.size(), limits.threads, [&](std::size_t v, unsigned worker) {
    if (equal[v] != v) return;
    for (const Cut& cut : *space[v].cuts) {
      throw_if_cancelled(limits.cancelled);
      Loads loads{};
      for (const LayerId layer : space[v].layers) {
        const Cut own = space.cut_of(layer, cut);
        loads[0] += timers[worker].seconds(layer, own, first);
        loads[1] += last == first ? 0 : timers[worker].seconds(layer, own, last);
      }
      loads_[v].push_back(loads);
    }
  });
  for (std::size_t v = 0; v < space.size(); ++v) loads_[v] = loads_[equal[v]];
}

// The least mean is a concave function of the weight. Returns one that is good.
double StepBound::find_least() {
  double best = 0;
  const auto at = [&](double weight) {
    const Seconds mean = least_mean(weight);
    if (mean > least_) {
      least_ = mean;
      best = weight;
    }
    return mean;
  };
  double low = 0, high = 1;
  for (int i = 0; i < kSearchSteps; ++i) {
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    const Seconds at_a = at(a), at_b = at(b);
    (at_a < at_b ? low : high) = at_a < at_b ? a : b;
  }
  at(0);
  at(1);
  return best;
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

// By how much each choice's weighted load is above the least of its variable.
std::vector<std::vector<double>> StepBound::excess(double weight_of_first) const {
  std::vector<std::vector<double>> all;
  for (const auto& loads : loads_) {
    std::vector<double>& excess = all.emplace_back();
    for (const Loads& load : loads) {
      excess.push_back(weight_of_first * load[0] + (1 - weight_of_first) * load[1]);
    }
    const double least = *std::min_element(excess.begin(), excess.end());
    for (double& seconds : excess) seconds -= least;
  }
  return all;
}

Seconds StepBound::of(const Choices& choices) const {
  Loads sum{};
  for (std::size_t v = 0; v < choices.size(); ++v) {
    for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += loads_[v][choices[v]][d];
  }
  return {std::max(sum[0], sum[1])};
}

}  // namespace strata
