#pragma once

// Training steps on a PlanRun, in pieces short enough that progress can be told and the work called
// off. The losses do not depend on the pieces. Not thread-safe.

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "sim/measure/runner.h"
#include "sim/plan/plan.h"
#include "sim/timeline/execution.h"
#include "sim/timeline/timeline.h"

namespace strata {

/// Times between the ends of steps that follow one another.
struct StepTimes {
  Seconds median, min, p90;
  Seconds spread;  ///< half the distance between the quartiles
  std::size_t count = 0;
};
/// `times`: at least one.
StepTimes step_times(std::vector<Seconds> times);

/// The host's part in a step, where devices work through queues.
struct IssueTimes {
  Seconds median;  ///< with what the host waits for room in queues, once it is far ahead
  Seconds min;     ///< about what it takes without
};

/// After each piece: steps done, and the last one's loss.
using TrainingProgress = std::function<void(std::size_t steps, double loss)>;

struct TrainOptions {
  std::size_t steps = 10;
  std::size_t warmup = 1;  ///< the first steps, which train as all do, but are not timed
  const std::atomic<bool>* cancelled = nullptr;
  TrainingProgress progress;
};

struct TrainedSteps {
  std::vector<double> losses;    ///< by step
  StepTimes times;               ///< a step alone, from its start, where no two were timed
  bool played = false;           ///< times are of steps from a recording, and of no others
  Communication moved_per_step;  ///< as it was counted while it was copied
  Timeline last;                 ///< of the last piece
  std::optional<PlainLoops> plain_loops = {};  ///< of GPUs alone
  std::optional<IssueTimes> issue = {};        ///< also of pieces' first steps; of GPUs alone
  bool stopped = false;  ///< called off after losses.size() steps; the PlanRun is then spent
};

/// Throws Cancelled if no piece was done, InternalError where other bytes were moved than the plan
/// says, and what PlanRun throws.
TrainedSteps train(PlanRun& run, const Plan& plan, const BatchOf& batch_of,
                   const TrainOptions& options);

}  // namespace strata
