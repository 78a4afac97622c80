#include "sim/study/trial.h"

#include <algorithm>

#include "sim/base/quantile.h"

namespace strata {
namespace {

constexpr std::size_t kStepsPerTurn = 6;
constexpr std::size_t kFirstSteps = 2;  // of a turn, which find other work's data in the caches
constexpr auto kSteps = static_cast<std::int64_t>(kStepsPerTurn);

Communication of_a_step(const Communication& moved) {
  return {{moved.transfer.value / kSteps},
          {moved.sync.value / kSteps},
          {moved.statistics.value / kSteps}};
}

}  // namespace

Trial::Trial(Runner& runner, const std::string& devices, const Graph& graph,
             const Strategy& strategy, Plan plan, const Dataset& data,
             const NetworkWeights& weights)
    : data_(data), plan_(std::move(plan)) {
  run_ = runner.start(devices, graph, plan_, {});
  shards_ = runner.measure(devices, graph, {shapes_of(graph, strategy), {}, plan_.dtype()});
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!weights[i].empty()) run_->set_parameters(LayerId(i), weights[i]);
  }
}

// The last step does not count either: its synchronisation meets no next step.
void Trial::turn(const std::atomic<bool>* cancelled) {
  shards_->round(cancelled);
  last_ = run_->run(
      kStepsPerTurn, [&](std::uint64_t step) { return data_.batch(step); }, cancelled);
  shards_->round(cancelled);
  for (Seconds time : last_.timeline.step_intervals({kFirstSteps - 1, kStepsPerTurn - 2})) {
    times_.push_back(time.value);
  }
  const Communication planned = communication(plan_);
  moved_as_planned_ = moved_as_planned_ && last_.moved.transfer == planned.transfer * kSteps &&
                      last_.moved.sync == planned.sync * kSteps;
}

void Trial::warm_up(const std::atomic<bool>* cancelled) {
  turn(cancelled);
  times_.clear();
}

void Trial::report(ValidateCase& result, const Prediction& predicted) const {
  std::vector<double> sorted = times_;
  std::sort(sorted.begin(), sorted.end());
  result.measured = {quantile(sorted, 0.5)};
  result.spread = {(quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2};
  result.samples = sorted.size();
  result.planned = communication(plan_);
  result.moved = of_a_step(last_.moved);
  result.moved_as_planned = moved_as_planned_;
  result.comparison = compare(plan_, predicted.timeline, last_.timeline);
  result.plan = plan_;
  result.predicted_timeline = predicted.timeline;
  result.measured_timeline = last_.timeline;
}

}  // namespace strata
