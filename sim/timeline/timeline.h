#pragma once

// When every task of a Plan ran, step after step, in one clock that starts at 0: predicted by the
// simulator or measured by an executor. Values; thread-safe to read.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/index.h"
#include "sim/base/units.h"
#include "sim/plan/plan.h"

namespace strata {

/// ready: all that the task waits for is done; start: its device (or all its peers) was free, too;
/// end: done.
struct Span {
  Seconds ready, start, end;
  Seconds duration() const { return end - start; }
  bool operator==(const Span&) const = default;
};

/// From `at` on, traffic crosses the link at `rate`.
struct LinkRate {
  LinkId link;
  Seconds at;
  BytesPerSecond rate;
  bool operator==(const LinkRate&) const = default;
};

/// A stretch of time that is so many steps long.
struct SteadyTime {
  Seconds from, to;
  double steps = 1;
  /// What of the span falls into it; none where they do not meet.
  Seconds within(const Span& span) const {
    const Seconds begin = std::max(span.start, from), end = std::min(span.end, to);
    return end > begin ? end - begin : Seconds{};
  }
};

class Timeline {
 public:
  Timeline() = default;
  /// `spans`: of the first step's tasks in plan order, then the second step's, and so on.
  /// `least_step`: what no step can be shorter than in the long run.
  Timeline(std::size_t tasks_per_step, std::vector<Span> spans,
           std::vector<LinkRate> link_rates = {}, Seconds least_step = {});

  std::size_t steps() const { return step_ends_.size(); }
  const Span& span(std::size_t step, TaskId task) const {
    return spans_[step * tasks_per_step_ + task()];
  }
  /// In the constructor's order.
  const std::vector<Span>& spans() const { return spans_; }
  std::span<const Span> step(std::size_t index) const {
    return std::span(spans_).subspan(index * tasks_per_step_, tasks_per_step_);
  }
  /// The end of the step's last task.
  Seconds step_end(std::size_t index) const { return step_ends_[index]; }
  Seconds makespan() const;

  /// The steps between whose ends step_seconds() is taken: not the first ones, which found the
  /// devices idle, nor the last one, whose synchronisation meets no next step.
  struct Window {
    std::size_t first = 0, last = 0;  ///< steps; equal where there is only one
  };
  Window steady_window() const { return steady_window(steps()); }
  /// Of so many steps.
  static Window steady_window(std::size_t steps);
  /// From the end of its first step to the end of its last one; of one step, all of it.
  SteadyTime steady_time() const;

  /// From the end of each step of the window to the end of the next: one less than it has steps.
  std::vector<Seconds> step_intervals(Window window) const;

  /// The steady-state time between steps: the mean interval in the steady window, or `least_step`
  /// where that is longer: a device that runs ahead has done some of the last steps' work while the
  /// first ones lasted. With one step, its makespan.
  Seconds step_seconds() const;

  /// By link, then time; empty where nobody recorded them. Of a plan by classes, those of the links
  /// that stand for others.
  std::span<const LinkRate> link_rates() const { return link_rates_; }

  bool operator==(const Timeline&) const = default;

 private:
  std::size_t tasks_per_step_ = 0;
  std::vector<Span> spans_;
  std::vector<Seconds> step_ends_;
  std::vector<LinkRate> link_rates_;
  Seconds least_step_;
};

}  // namespace strata
