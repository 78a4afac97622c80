#pragma once

// The document's network and strategy on real devices: its shards are measured, its step is
// predicted from them and run, and both are compared task by task (sim/study/validate/validate.h).
// Not thread-safe, as a Runner is not.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gui/models/scene.h"
#include "sim/base/cancel.h"
#include "sim/measure/runner.h"
#include "sim/plan/plan.h"
#include "sim/study/validate/validate.h"
#include "sim/timeline/compare.h"
#include "sim/timeline/timeline.h"

namespace strata::gui {

struct RealRun {
  Document document;              ///< its network and strategy; the cluster is that of the devices
  std::string devices = "cpu:2";  ///< FAMILY:NUMBER
  std::int64_t batch_per_device = 4;
  std::size_t rounds = 3;
  std::string strategy_file = "strategy.json";  ///< where a command finds edited cuts
};

/// What came of one.
struct RealOutcome {
  MeasuredPtr measured;   ///< its timelines are those of a round whose error is about the median
  Seconds predicted;      ///< of a step
  Seconds step;           ///< as measured: the median of all rounds
  Seconds spread;         ///< half the distance between their quartiles
  std::size_t steps = 0;  ///< that were measured
  Disturbance disturbance;
  RealRun run;  ///< what was asked for
};
/// What speaks against believing it on a machine of so many cores: a sentence each.
std::vector<std::string> doubts(const RealOutcome& outcome, std::size_t cores);

/// The `strata validate` that does the same.
std::string command_of(const RealRun& run);
/// Why there is none: "the strategy uses device 16; cpu:2 has 2: ..."; empty where there is one.
std::string why_no_command(const Runner& runner, const RealRun& run, const Scene* scene);

/// How far it is: "round 2 of 3"; what comes before the first of those is "warm-up 1 of 2".
std::string round_text(const MeasureProgress& at, const RealRun& run);

/// Throws InputError for a strategy that does not fit on the devices, what validate() throws, and
/// Cancelled.
RealOutcome run_for_real(Runner& runner, const RealRun& run, const std::atomic<bool>* cancelled,
                         const std::function<void(const MeasureProgress&)>& progress);

// Which of the steps of a measurement stands for it: not one in which something else ran on the
// machine. Values; pure.

struct MeasuredStep {
  std::size_t step = 0;    ///< of the timeline
  Seconds time;            ///< since the end of the step before
  bool preempted = false;  ///< it took far longer than the fastest
};

struct MeasuredSteps {
  /// Neither the first two, which find other work's data in the caches, nor the last, whose
  /// synchronisation meets no next step; in order. One at least.
  std::vector<MeasuredStep> steps;
  /// In `steps`; of an even number the shorter one. The longest that was not preempted, where that
  /// is shorter.
  std::size_t median = 0;

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
