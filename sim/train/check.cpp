#include "sim/train/check.h"

#include <algorithm>
#include <array>
#include <span>

#include "sim/train/nudge.h"

namespace strata {
namespace {

constexpr double kTolerance = 1e-4;
constexpr double kSoftmaxRoundoff = 0x1p-24;
constexpr double kMostRounding = 0.1;                        // a gradient that is missing is 1 away
constexpr std::array<std::uint32_t, 3> kUnits = {1, 8, 64};  // the last about 1e-5

Differences differences(const Graph& graph, const Trained& a, const Trained& b) {
  return {relative_difference(std::span<const double>(a.trained.losses), b.trained.losses),
          largest_gradient_difference(graph, a.gradients, b.gradients),
          largest_difference(graph, a.weights, b.weights)};
}

NetworkWeights nudged(const Graph& graph, NetworkWeights weights, const Nudge& by) {
  for (std::size_t i = 0; i < weights.size(); ++i) nudge(weights[i], by, graph[LayerId(i)].name);
  return weights;
}

// A softmax's gradient is p - 1 at the labels, which is about the loss where that is small: p is
// rounded near 1, and all gradients are made from what is left.
double softmax_rounding(double loss) {
  constexpr double kMost = kMostRounding / kTimesRounding, kLeastLoss = kSoftmaxRoundoff / kMost;
  return kSoftmaxRoundoff / std::max(std::abs(loss), kLeastLoss);
}

void widen(LargestDifference& most, const LargestDifference& other) {
  if (other.value > most.value) most = other;
}

void widen(Differences& most, const Differences& other) {
  most.loss = std::max(most.loss, other.loss);
  widen(most.gradients, other.gradients);
  widen(most.weights, other.weights);
}

}  // namespace

Allowance Check::allowed() const {
  if (strict) return {tolerance, tolerance, tolerance};
  const double gradients = std::max(tolerance, kTimesRounding * softmax_rounding);
  if (!rounding) return {tolerance, gradients, tolerance};
  return {std::max(tolerance, kTimesRounding * rounding->loss),
          std::max(gradients, kTimesRounding * rounding->gradients.value),
          std::max(tolerance, kTimesRounding * rounding->weights.value)};
}

bool Check::near() const {
  const Allowance most = allowed();
  return differences.loss <= most.loss && differences.gradients.value <= most.gradients &&
         differences.weights.value <= most.weights;
}

CheckVerdict Check::verdict() const {
  if (!near() || !layers.beyond.empty()) return CheckVerdict::failed;
  const Allowance most = allowed();
  const bool says_nothing = most.gradients >= kSaysNothing || most.weights >= kSaysNothing;
  return !layers.skipped.empty() && !strict && says_nothing ? CheckVerdict::cannot_say
                                                            : CheckVerdict::passed;
}

std::string_view name(CheckVerdict verdict) {
  switch (verdict) {
    case CheckVerdict::passed:
      return "passed";
    case CheckVerdict::failed:
      return "failed";
    case CheckVerdict::cannot_say:
      break;
  }
  return "cannot be said";
}

Check compare(const Graph& graph, const Trained& cut, const NetworkWeights& weights,
              const CheckOptions& options, const TrainAlone& train_alone) {
  Check check;
  check.strict = options.tolerance.has_value();
  check.tolerance = options.tolerance.value_or(kTolerance);
  const Trained one = train_alone(weights, "one device");
  check.differences = differences(graph, cut, one);
  check.softmax_rounding = softmax_rounding(one.trained.losses.back());
  for (std::uint32_t units : kUnits) {
    if (check.near() || check.strict) break;
    const Trained other =
        train_alone(nudged(graph, weights, {options.type, units}), "one device, rounded otherwise");
    if (!check.rounding) check.rounding.emplace();
    widen(*check.rounding, differences(graph, other, one));
    check.units = units;
  }
  return check;
}

}  // namespace strata
