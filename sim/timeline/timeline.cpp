#include "sim/timeline/timeline.h"

#include <algorithm>
#include <utility>

namespace strata {
namespace {

// Of sums of the same times in another order.
constexpr double kRounding = 1e-9;

}  // namespace

Timeline::Timeline(std::size_t tasks_per_step, std::vector<Span> spans,
                   std::vector<LinkRate> link_rates, Seconds least_step)
    : tasks_per_step_(tasks_per_step),
      spans_(std::move(spans)),
      link_rates_(std::move(link_rates)),
      least_step_(least_step) {
  const std::size_t steps = tasks_per_step_ == 0 ? 0 : spans_.size() / tasks_per_step_;
  for (std::size_t i = 0; i < steps; ++i) {
    Seconds end;
    for (const Span& span : step(i)) end = std::max(end, span.end);
    step_ends_.push_back(end);
  }
}

Seconds Timeline::makespan() const {
  Seconds end;
  for (Seconds step_end : step_ends_) end = std::max(end, step_end);
  return end;
}

Timeline::Window Timeline::steady_window(std::size_t steps) {
  if (steps < 2) return {};
  if (steps == 2) return {0, 1};
  const std::size_t last = steps - 2;
  return {last / 2, last};
}

SteadyTime Timeline::steady_time() const {
  const auto [first, last] = steady_window();
  if (first == last) return {{}, makespan(), 1};
  return {step_ends_[first], step_ends_[last], static_cast<double>(last - first)};
}

std::vector<Seconds> Timeline::step_intervals(Window window) const {
  std::vector<Seconds> intervals;
  for (std::size_t k = window.first; k < window.last; ++k) {
    intervals.push_back(step_ends_[k + 1] - step_ends_[k]);
  }
  return intervals;
}

Seconds Timeline::step_seconds() const {
  const Window window = steady_window();
  if (window.first == window.last) return makespan();
  const Seconds mean = (step_ends_[window.last] - step_ends_[window.first]) /
                       static_cast<double>(window.last - window.first);
  return least_step_ > (1 + kRounding) * mean ? least_step_ : mean;
}

}  // namespace strata
