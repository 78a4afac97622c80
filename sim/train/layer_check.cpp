#include "sim/train/layer_check.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "sim/base/error.h"
#include "sim/train/evaluate.h"
#include "sim/train/layer_follower.h"
#include "sim/train/step_record.h"

namespace strata {
namespace {

constexpr std::size_t kStepsCompared =
    2;  // the second begins with what the first one made of parameters
// How many times as far as one unit in the last place of its inputs takes a layer.
constexpr double kTimesNudged = 16;
constexpr double kUnitRoundoff = 0x1p-24;  // gradients of parameters are float32 always
constexpr double kTimesSummation = 8;      // as far as a random walk of roundings goes
constexpr double kMostBySummation = 1e-4;

class LayerComparison {
 public:
  explicit LayerComparison(const LayerCheckCase& input)
      : in_(input),
        follower_(in_.graph, in_.plan, record_),
        nudged_(in_.graph, in_.plan, record_),
        cut_(started(in_.plan, record_, in_.shares)),
        one_(started(in_.alone, follower_)) {}

  LayerCheck run(const std::atomic<bool>* cancelled, const LayerProgress& progress) {
    if (progress) progress(0, kStepsCompared, 0);
    for (std::size_t step = 0; step < kStepsCompared; ++step) {
      record_.clear();
      follower_.begin(step);
      const Execution cut = cut_->run(1, in_.batch_of, cancelled);
      if (record_.empty()) return {0, 0, {}, {}, "these devices do not show their tensors"};
      if (in_.shares) add_gradients();
      const Execution one = one_->run(1, in_.batch_of, cancelled);
      compare_losses(step, cut, one);
      judge(step, follower_.take_doubts(), cancelled);
      if (progress) progress(step + 1, kStepsCompared, one.losses.back());
    }
    result_.steps = kStepsCompared;
    if (follower_.largest().is_nearer_than(result_.largest)) result_.largest = follower_.largest();
    result_.layers = follower_.layers();
    return std::move(result_);
  }

 private:
  std::unique_ptr<PlanRun> started(const Plan& plan, TensorObserver& observer,
                                   bool keep_gradients = false) {
    ExecutionOptions execution = in_.execution;
    execution.recorded = execution.task_times = false;
    execution.keep_gradients = keep_gradients;
    execution.observer = &observer;
    return start(in_.runner, in_.devices, in_.graph, plan, execution, in_.weights);
  }

  // Of the step that was run.
  void add_gradients() {
    for (std::size_t i = 0; i < in_.graph.size(); ++i) {
      std::vector<float> whole = cut_->gradients(LayerId(i));
      if (!whole.empty()) record_.add_gradients(LayerId(i), std::move(whole));
    }
  }

  void compare_losses(std::size_t step, const Execution& cut, const Execution& one) {
    for (std::size_t k = 0; k < one.losses.size(); ++k) {
      TensorDifference found{loss_difference(cut.losses[k], one.losses[k]),
                             layer_tolerance(in_.plan.dtype()),
                             "",
                             "loss",
                             step,
                             0};
      if (!found.within()) result_.beyond.push_back(std::move(found));
    }
  }

  void judge(std::size_t step, const std::vector<Doubt>& doubts,
             const std::atomic<bool>* cancelled) {
    if (doubts.empty()) return;
    nudge(step, doubts, cancelled);
    for (const Doubt& doubt : doubts) {
      TensorDifference found = doubt.difference;
      found.allowed += kTimesNudged * nudged_.moved(doubt) + lost_by_summation(doubt.key);
      if (!found.within()) {
        result_.beyond.push_back(std::move(found));
      } else if (found.is_nearer_than(result_.largest)) {
        result_.largest = std::move(found);
      }
    }
  }

  double lost_by_summation(TensorKey key) const {
    if (key.role != TensorRole::parameter_gradients) return 0;
    const Extents& output = in_.graph[key.layer].output;
    const std::int64_t terms = in_.plan.rounds() * volume(output) / output[Dim::c];
    return std::min(kTimesSummation * kUnitRoundoff * std::sqrt(static_cast<double>(terms)),
                    kMostBySummation);
  }

  // Whatever it made of the steps before, it begins with this one's parameters, as dropout does
  // with this one's number.
  void nudge(std::size_t step, const std::vector<Doubt>& doubts,
             const std::atomic<bool>* cancelled) {
    if (!nudged_run_) nudged_run_ = started(in_.alone, nudged_);
    nudged_.look_at({});
    if (step > nudged_steps_) nudged_run_->run(step - nudged_steps_, in_.batch_of, cancelled);
    nudged_.look_at(doubts);
    nudged_run_->run(1, in_.batch_of, cancelled);
    nudged_steps_ = step + 1;
  }

  const LayerCheckCase& in_;
  StepRecord record_;
  Follower follower_;
  NudgedFollower nudged_;
  std::unique_ptr<PlanRun> cut_, one_, nudged_run_;
  std::size_t nudged_steps_ = 0;
  LayerCheck result_;
};

}  // namespace

double loss_difference(double cut, double one) {
  return std::abs(cut - one) / std::max(1.0, std::abs(one));
}

double layer_tolerance(DType type) {
  return type == DType::bf16 ? 1e-2 : 1e-5;
}

LayerCheck check_layers(const LayerCheckCase& input, const std::atomic<bool>* cancelled,
                        const LayerProgress& progress) {
  if (input.plan.rounds() != input.alone.rounds()) {
    throw InternalError("layers are compared round by round");
  }
  return LayerComparison(input).run(cancelled, progress);
}

}  // namespace strata
