#pragma once

// Which of the steps of a measurement stands for it: not one in which something else ran on the
// machine. Values; pure.

#include <string>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/timeline/compare.h"
#include "sim/timeline/timeline.h"

namespace strata::gui {

struct MeasuredStep {
  std::size_t step = 0;    ///< of the timeline
  Seconds time;            ///< since the end of the step before
  bool preempted = false;  ///< it took far longer than the median
};

struct MeasuredSteps {
  /// Neither the first two, which find other work's data in the caches, nor the last, whose
  /// synchronisation meets no next step; in order. One at least.
  std::vector<MeasuredStep> steps;
  std::size_t median = 0;  ///< in `steps`; of an even number the shorter one

  const MeasuredStep& shown() const { return steps[median]; }
};
/// Of a timeline of a step at least.
MeasuredSteps measured_steps(const Timeline& measured);

/// "step 2 of 3, the median: 1.31 ms; steps 1.28 ms to 9.02 ms; preempted: step 3 (9.02 ms)".
std::string text_of(const MeasuredSteps& steps);

/// Of each task, predicted and measured, the latter as the median of the steps that were not
/// preempted.
Comparison compare_typical(const Plan& plan, const Timeline& predicted, const Timeline& measured);

}  // namespace strata::gui
