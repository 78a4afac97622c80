#include "sim/solver/step_estimate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace strata {
namespace {

// Of t_C; the rest is the forward pass, of which so much hides sums of the step before.
constexpr double kBackward = 2. / 3, kHidingForward = 0.5;
// Relative to the fastest step: how far a choice is expected to be off, how far the whole estimate
// of the fastest step is besides, and, of what another takes longer, that of this one.
constexpr double kOfChoice = 0.02, kOfFastest = 0.005, kOfSlower = 0.1;
// Of the regression. What they leave is far below what the estimate is wrong by.
constexpr int kSweeps = 20;

// What is left of a known step that the corrections do not explain.
struct Error {
  const Choices* choices;
  double seconds, weight;
};

double mean(const std::vector<Error>& errors) {
  double sum = 0, weights = 0;
  for (const Error& e : errors) {
    sum += e.weight * e.seconds;
    weights += e.weight;
  }
  return sum / weights;
}

// Takes the best correction of each choice of a variable, the others given, out of the errors.
void correct(std::size_t variable, double prior_weight, std::vector<Error>& errors,
             std::vector<double>& corrections) {
  std::vector<double> sums(corrections.size()), weights(corrections.size(), prior_weight);
  for (const Error& e : errors) {
    const std::uint32_t choice = (*e.choices)[variable];
    sums[choice] += e.weight * (e.seconds + corrections[choice]);
    weights[choice] += e.weight;
  }
  for (Error& e : errors) e.seconds += corrections[(*e.choices)[variable]];
  for (std::size_t c = 0; c < corrections.size(); ++c) corrections[c] = sums[c] / weights[c];
  for (Error& e : errors) e.seconds -= corrections[(*e.choices)[variable]];
}

}  // namespace

StepEstimate::StepEstimate(const CostTables& tables, std::span<const std::vector<double>> compute)
    : tables_(tables), compute_(compute) {
  for (const auto& seconds : tables.variables) corrections_.emplace_back(seconds->size());
}

void StepEstimate::learn(std::span<const KnownStep* const> known) {
  for (std::vector<double>& of_one : corrections_) std::fill(of_one.begin(), of_one.end(), 0.);
  if (known.empty()) return;
  const double fastest = known.front()->second;
  const auto weight_of = [](double deviation) { return 1 / (deviation * deviation); };
  std::vector<Error> errors;
  for (const KnownStep* step : known) {
    const auto& [choices, seconds] = *step;
    const double estimate = overlapped(choices);
    if (!std::isfinite(estimate)) continue;
    const double deviation = kOfFastest * fastest + kOfSlower * (seconds - fastest);
    errors.push_back({&choices, seconds - estimate, weight_of(deviation)});
  }
  if (errors.empty()) return;
  for (int i = 0; i < kSweeps; ++i) {
    // An error of all alike ranks none.
    const double of_all = mean(errors);
    for (Error& e : errors) e.seconds -= of_all;
    for (std::size_t v = 0; v < corrections_.size(); ++v) {
      correct(v, weight_of(kOfChoice * fastest), errors, corrections_[v]);
    }
  }
}

double StepEstimate::seconds(std::span<const std::uint32_t> choices) const {
  return overlapped(choices) + correction(choices);
}

double StepEstimate::overlapped(std::span<const std::uint32_t> choices) const {
  double together = 0, forward = 0;
  std::vector<double> backward(choices.size());
  for (std::size_t v = 0; v < choices.size(); ++v) {
    const double compute = compute_[v][choices[v]];
    together += compute;
    forward += (1 - kBackward) * compute;
    backward[v] = kBackward * compute;
  }
  for (const CostTables::Edge& edge : tables_.edges) {
    const double transfer = edge.table->at(choices[edge.from], choices[edge.to]);
    together += transfer;
    backward[edge.from] += transfer / 2;
  }
  double left = 0;
  for (std::size_t v = choices.size(); v-- > 0;) {
    const double sync = (*tables_.variables[v])[choices[v]] - compute_[v][choices[v]];
    left = std::max(0., left - backward[v]) + sync;
  }
  return together + std::max(0., left - kHidingForward * forward);
}

double StepEstimate::correction(std::span<const std::uint32_t> choices) const {
  double sum = 0;
  for (std::size_t v = 0; v < choices.size(); ++v) sum += corrections_[v][choices[v]];
  return sum;
}

}  // namespace strata
