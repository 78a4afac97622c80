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
#include "sim/study/case/runner.h"
#include "sim/study/validate/validate.h"

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

}  // namespace strata::gui
