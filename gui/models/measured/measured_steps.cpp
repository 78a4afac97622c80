#include "gui/models/measured/measured_steps.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "gui/models/text.h"

namespace strata::gui {
namespace {

constexpr double kFarLonger = 1.5;  // than the median
constexpr std::size_t kColdSteps = 2;

std::string step_time(const MeasuredStep& step) {
  return human_seconds(step.time).toStdString();
}

// "step 3 (9.02 ms)", of so many that count.
std::string preempted_text(const std::vector<MeasuredStep>& steps) {
  std::string text;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].preempted) continue;
    text += fmt::format("{}step {} ({})", text.empty() ? "; preempted: " : ", ", i + 1,
                        step_time(steps[i]));
  }
  return text;
}

std::vector<TaskTimes> times_in(const Timeline& timeline, std::size_t step) {
  std::vector<TaskTimes> times;
  const std::span<const Span> spans = timeline.step(step);
  times.reserve(spans.size());
  for (const Span& span : spans) times.push_back({span.duration(), span.start - span.ready});
  return times;
}

}  // namespace

MeasuredSteps measured_steps(const Timeline& measured) {
  const std::size_t last = measured.steady_window().last;
  const std::size_t first = last == 0 ? 0 : std::max<std::size_t>(1, std::min(kColdSteps, last));
  MeasuredSteps result;
  for (std::size_t step = first; step <= last; ++step) {
    const Seconds before = step == 0 ? Seconds{} : measured.step_end(step - 1);
    result.steps.push_back({step, measured.step_end(step) - before});
  }
  std::vector<std::size_t> order(result.steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return result.steps[i].time; });
  result.median = order[(order.size() - 1) / 2];
  for (MeasuredStep& step : result.steps) {
    step.preempted = step.time > kFarLonger * result.shown().time;
  }
  return result;
}

std::string text_of(const MeasuredSteps& steps) {
  const std::string shown = step_time(steps.shown());
  if (steps.steps.size() == 1) return fmt::format("one step: {}", shown);
  const auto [least, most] = std::ranges::minmax_element(steps.steps, {}, &MeasuredStep::time);
  return fmt::format("step {} of {}, the median: {}; steps {} to {}{}", steps.median + 1,
                     steps.steps.size(), shown, step_time(*least), step_time(*most),
                     preempted_text(steps.steps));
}

Comparison compare_typical(const Plan& plan, const Timeline& predicted, const Timeline& measured) {
  std::vector<std::vector<TaskTimes>> times;
  for (const MeasuredStep& step : measured_steps(measured).steps) {
    if (!step.preempted) times.push_back(times_in(measured, step.step));
  }
  Comparison result = compare(plan, predicted, measured);
  result.tasks = compare(mean_times(plan, predicted), median_times(times));
  result.rows = explain_error(plan, result.tasks);
  return result;
}

}  // namespace strata::gui
