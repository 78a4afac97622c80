#include "tests/metamorphic/trial.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/case/rounds.h"
#include "sim/search/asked_strategy.h"

namespace strata::testing {

PredictOptions whole_answer() {
  PredictOptions options;
  options.breakdown = true;
  return options;
}

PredictOptions brief_answer() {
  PredictOptions options;
  options.critical_path = options.eq1 = false;
  return options;
}

Answer ask(CaseLoader& loader, const DrawnCase& drawn, const PredictOptions& options) {
  Question question = understand(Job::predict, drawn.settings);
  Case input = loader.load(question.input());
  Strategy strategy = resolve(question.strategy(), input);
  PredictOptions asked = options;
  asked.steps = std::get<PredictRequest>(question.request).steps;
  Prediction found = predict(input, strategy, asked);
  return {std::move(question), std::move(input), std::move(strategy), std::move(found)};
}

std::vector<DeviceWork> device_work(const Case& input, const Prediction& found) {
  std::vector<DeviceWork> work(input.cluster.device_count());
  for (std::size_t i = 0; i < found.plan.size(); ++i) {
    const Task& task = found.plan[TaskId(i)];
    if (task.kind != TaskKind::compute) continue;
    DeviceWork& own = work[task.device()];
    Seconds& sum = task.again                    ? own.recompute
                   : task.phase == Phase::update ? own.optimizer
                                                 : own.compute;
    sum += found.costs[i].seconds / input.cluster[task.device].speed;
  }
  return work;
}

Trial::Trial(CaseLoader& loader, DrawnCase said, std::string its_folder, std::uint64_t seed)
    : random(seed),
      drawn(std::move(said)),
      folder(std::move(its_folder)),
      base(ask(loader, drawn)),
      loader_(loader) {}

Prediction Trial::predicted(const Case& changed) const {
  PredictOptions options = brief_answer();
  options.steps = base.steps();
  return predict(changed, base.strategy, options);
}

const Case& Trial::cut() const {
  if (!cut_) cut_ = in_rounds(base.input, base.strategy);
  return *cut_;
}

void Trial::expect(bool holds, const std::function<std::string()>& what) {
  if (!holds) verdict.faults.push_back(what());
}

void Trial::expect_near(double a, double b, std::string_view what, double tolerance) {
  const double most = tolerance * std::max(std::abs(a), std::abs(b));
  expect(std::abs(a - b) <= most, [&] { return fmt::format("{}: {} and {}", what, a, b); });
}

void Trial::expect_not_faster(Seconds later, Seconds earlier, std::string_view what, double bound) {
  constexpr double kRounding = 1e-9;
  const double sooner = (earlier - later) / earlier;
  if (sooner <= kRounding) return;
  if (sooner <= bound) return verdict.anomalies.push_back(sooner);
  expect(false, [&] {
    return fmt::format("{}: {} s, {:.3g} % below {} s", what, later.value, 100 * sooner,
                       earlier.value);
  });
}

}  // namespace strata::testing
