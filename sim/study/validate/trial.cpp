#include "sim/study/validate/trial.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/quantile.h"
#include "sim/study/validate/replay.h"

namespace strata {
namespace {

constexpr std::size_t kStepsPerTurn = 6;
constexpr std::size_t kFirstSteps = 2;   // of a turn, which find other work's data in the caches
constexpr std::size_t kShownTurns = 16;  // of which one is shown; timelines are large
constexpr auto kSteps = static_cast<std::int64_t>(kStepsPerTurn);

Communication of_a_step(const Communication& moved) {
  return {{moved.transfer.value / kSteps},
          {moved.sync.value / kSteps},
          {moved.statistics.value / kSteps}};
}

void set_pairs(ValidateCase& result, const std::vector<StepPair>& pairs) {
  std::vector<double> predicted, measured;
  for (const StepPair& pair : pairs) {
    predicted.push_back(pair.predicted.value);
    measured.push_back(pair.measured.value);
  }
  result.predicted = {median(std::move(predicted))};
  result.measured = {median(std::move(measured))};
  for (const StepPair& pair : pairs) result.turns.push_back(pair.measured);
  result.error = paired_error(pairs);
}

void set_spread(ValidateCase& result, std::vector<double> steps) {
  std::sort(steps.begin(), steps.end());
  result.spread = {(quantile(steps, 0.75) - quantile(steps, 0.25)) / 2};
  result.samples = steps.size();
}

// Of those that can be shown, the pair whose error is nearest to what is reported.
std::size_t nearest(const std::vector<StepPair>& pairs, double error) {
  const auto distance = [&](const StepPair& pair) {
    return std::abs(pair.relative_error() - error);
  };
  const auto last =
      pairs.begin() + static_cast<std::ptrdiff_t>(std::min(pairs.size(), kShownTurns));
  const auto best = std::min_element(
      pairs.begin(), last, [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  return static_cast<std::size_t>(best - pairs.begin());
}

// Alone, from the end of the step before it.
Timeline last_step(const Timeline& timeline) {
  const std::size_t last = timeline.steps() - 1;
  const auto since = [begin = timeline.step_end(last - 1)](Seconds at) {
    return std::max(Seconds{}, at - begin);
  };
  std::vector<Span> spans;
  for (const Span& span : timeline.step(last)) {
    spans.push_back({since(span.ready), since(span.start), since(span.end)});
  }
  const std::size_t tasks = spans.size();
  return Timeline(tasks, std::move(spans));
}

// Where first steps are long whatever the gradients are, as Adam's, a network
// soon gives most words of a large vocabulary no chance, and their gradients' squares are denormal,
// with which cores reckon several times as long as with others.
constexpr float kShortSteps = 1e-5F;

}  // namespace

Trial::Trial(Runner& runner, const std::string& devices, const Graph& graph,
             const Strategy& strategy, Plan plan, const Dataset& data,
             const NetworkWeights& weights, bool recorded)
    : data_(data), plan_(std::move(plan)), recorded_(recorded) {
  ExecutionOptions options;
  options.recorded = recorded;
  if (traits(plan_.optimizer()).ignores_gradient_scale) options.learning_rate = kShortSteps;
  run_ = runner.start(devices, graph, plan_, options);
  shards_ = runner.measure(
      devices, graph, {shapes_of(graph, strategy), {}, plan_.dtype(), recorded, plan_.optimizer()});
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!weights[i].empty()) run_->set_parameters(LayerId(i), weights[i]);
  }
}

// The last step does not count either: its synchronisation meets no next step.
void Trial::turn(const std::atomic<bool>* cancelled) {
  Turn turn;
  shards_->round(cancelled);
  turn.before = shards_->last_round();
  Execution run = run_->run(
      kStepsPerTurn, [&](std::uint64_t step) { return data_.batch(step); }, cancelled);
  shards_->round(cancelled);
  turn.after = shards_->last_round();
  turn.steps = run.timeline.step_intervals({kFirstSteps - 1, kStepsPerTurn - 2});
  moved_ = run.moved;
  plain_loops_ = run.plain_loops;
  if (turns_.size() < kShownTurns) turn.timeline = timeline_to_show(std::move(run));
  turns_.push_back(std::move(turn));
  const Communication planned = communication(plan_);
  moved_as_planned_ = moved_as_planned_ && moved_.transfer == planned.transfer * kSteps &&
                      moved_.sync == planned.sync * kSteps;
}

// Of played steps only the ends are known.
Timeline Trial::timeline_to_show(Execution run) const {
  return recorded_ ? last_step(run.timeline) : std::move(run.timeline);
}

void Trial::warm_up(const std::atomic<bool>* cancelled) {
  turn(cancelled);
  turns_.clear();
}

Seconds Trial::mean_step(const Turn& turn) {
  const Seconds sum = std::accumulate(turn.steps.begin(), turn.steps.end(), Seconds{});
  return sum / static_cast<double>(turn.steps.size());
}

void Trial::report(ValidateCase& result, const Case& input, const Prediction& predicted,
                   const std::function<void()>& replaying) const {
  const Replay replay(input, predicted);
  std::vector<StepPair> pairs;
  std::vector<double> steps;
  std::vector<std::vector<TaskTimes>> tasks_predicted, tasks_measured;
  for (const Turn& turn : turns_) {
    replaying();
    const Timeline predicted_turn = replay.timeline(turn.before, turn.after);
    pairs.push_back({predicted_turn.step_seconds(), mean_step(turn)});
    for (Seconds step : turn.steps) steps.push_back(step.value);
    if (pairs.size() > kShownTurns) continue;
    tasks_predicted.push_back(mean_times(plan_, predicted_turn));
    tasks_measured.push_back(mean_times(plan_, turn.timeline));
  }
  set_pairs(result, pairs);
  set_spread(result, std::move(steps));
  const Turn& shown = turns_[nearest(pairs, result.error.median)];
  result.planned = communication(plan_);
  result.moved = of_a_step(moved_);
  result.moved_as_planned = moved_as_planned_;
  result.plain_loops = plain_loops_;
  result.plan = plan_;
  result.predicted_timeline = replay.timeline(shown.before, shown.after);
  result.measured_timeline = shown.timeline;
  result.errors =
      explain_error(plan_, compare(median_times(tasks_predicted), median_times(tasks_measured)));
}

}  // namespace strata
