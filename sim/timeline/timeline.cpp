#include "sim/timeline/timeline.h"

#include <algorithm>
#include <utility>

namespace strata {

Timeline::Timeline(std::size_t tasks_per_step, std::vector<Span> spans,
                   std::vector<LinkRate> link_rates)
    : tasks_per_step_(tasks_per_step),
      spans_(std::move(spans)),
      link_rates_(std::move(link_rates)) {
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

Seconds Timeline::step_seconds() const {
  if (step_ends_.size() < 2) return makespan();
  const std::size_t first = step_ends_.size() / 2 - 1;
  const auto intervals = static_cast<double>(step_ends_.size() - 1 - first);
  return (step_ends_.back() - step_ends_[first]) / intervals;
}

}  // namespace strata
