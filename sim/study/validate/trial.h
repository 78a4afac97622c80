#pragma once

// A strategy that `strata validate` runs from time to time, between sweeps over the very shards it
// computes: what the machine's moods do to the one, they do to the other. A turn makes a pair of
// what it predicts and what it measures. Not thread-safe.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/case/predict.h"
#include "sim/case/weights.h"
#include "sim/measure/runner.h"
#include "sim/study/validate/validate.h"
#include "sim/train/dataset.h"

namespace strata {

class Trial {
 public:
  /// Graph and data must outlive it. `recorded`: see ValidateRequest; the steps that count are then
  /// played, and the tasks that are shown those of a turn's last step, which is not.
  Trial(Runner& runner, const std::string& devices, const Graph& graph, const Strategy& strategy,
        Plan plan, const Dataset& data, const NetworkWeights& weights, bool recorded = false);

  void turn(const std::atomic<bool>* cancelled);
  /// A turn that does not count.
  void warm_up(const std::atomic<bool>* cancelled);
  std::size_t turns() const { return turns_.size(); }
  /// Of every sweep, as of every step: none is left out because the machine was busy.
  std::vector<MeasuredCost> costs() const { return shards_->costs(Sampled::always); }
  Disturbance disturbance() const { return shards_->disturbance(); }

  /// What was measured, beside what was predicted. `input`: of costs(). Calls `replaying` before
  /// each turn is simulated, which takes a while; what that throws calls it off.
  void report(ValidateCase& result, const Case& input, const Prediction& predicted,
              const std::function<void()>& replaying) const;

 private:
  struct Turn {
    RoundTimes before, after;
    std::vector<Seconds> steps;  ///< that count
    Timeline timeline;           ///< empty where there are others enough to show
  };
  static Seconds mean_step(const Turn& turn);

  Timeline timeline_to_show(Execution run) const;

  const Dataset& data_;
  Plan plan_;
  bool recorded_;
  std::unique_ptr<PlanRun> run_;
  std::unique_ptr<Measurer> shards_;
  std::vector<Turn> turns_;
  Communication moved_;  // in the last turn
  bool moved_as_planned_ = true;
  std::optional<PlainLoops> plain_loops_;  // until now
};

}  // namespace strata
