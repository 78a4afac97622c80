#include "gui/models/measured/real_run.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "gui/document/document_settings.h"
#include "gui/models/text.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/search/asked_strategy.h"

namespace strata::gui {
namespace {

ValidateRequest request_for(const RealRun& run) {
  ValidateRequest request;
  request.models = {run.document.input.model};
  request.dims = run.document.input.dims;
  request.devices = run.devices;
  request.each_count = false;
  request.training.batch_per_device = run.batch_per_device;
  request.training.sync = run.document.input.training.sync;
  request.training.optimizer = run.document.input.training.optimizer;
  request.rounds = run.rounds;
  request.command = command_of(run);
  return request;
}

void check_fits(std::span<const Config> configs, const Cluster& cluster,
                const std::string& devices) {
  for (const Config& config : configs) {
    for (const DeviceId device : config.devices) {
      if (device() < cluster.device_count()) continue;
      throw InputError(fmt::format(
          "the strategy uses device {}; {} has {}: data, model, owt and optimal fit any",
          device() + 1, devices, cluster.device_count()));
    }
  }
}

AskedStrategy strategy_for(const Runner& runner, const RealRun& run) {
  const StrategyChoice& choice = run.document.strategy;
  if (!choice.edited()) return choice.source;
  check_fits(choice.configs, runner.cluster(run.devices), run.devices);
  return Strategy(choice.label(), choice.configs);
}

MeasuredPtr measured_of(ValidateCase&& result, const RealRun& run) {
  auto measured = std::make_shared<Measured>();
  measured->devices = run.devices;
  measured->strategy = run.document.strategy.label();
  measured->graph = std::move(result.graph);
  measured->cluster = std::move(result.cluster);
  measured->plan = std::move(result.plan);
  measured->predicted = std::move(result.predicted_timeline);
  measured->measured = std::move(result.measured_timeline);
  measured->comparison = compare_typical(measured->plan, measured->predicted, measured->measured);
  return measured;
}

constexpr double kFarLonger = 1.5;  // than the fastest
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

std::vector<std::string> doubts(const RealOutcome& outcome, std::size_t cores) {
  constexpr double kMuch = 0.25;  // of the sweeps
  std::vector<std::string> doubts;
  const Measured& measured = *outcome.measured;
  const bool shares_cores = measured.cluster[DeviceId(0)].kind == "cpu" && cores > 0 &&
                            measured.cluster.device_count() > cores;
  if (shares_cores) {
    doubts.push_back(
        fmt::format("{} on {} cores: devices take turns on a core, so predictions do not hold.",
                    measured.devices, cores));
  }
  if (const Disturbance& d = outcome.disturbance; d.share() >= kMuch) {
    doubts.push_back(fmt::format(
        "Something else ran on this machine in {} of {} sweeps, so the step is known to several "
        "per cent only: more rounds or a calm machine help.",
        d.left_out, d.of));
  }
  return doubts;
}

std::string command_of(const RealRun& run) {
  const StrategyChoice& strategy = run.document.strategy;
  Document said = run.document;
  said.input.framework = std::string(kNoFramework);  // real devices run as they do
  said.input.training.batch_per_device = run.batch_per_device;
  return fmt::format(
      "strata validate {} --devices {} --only --strategies {}{} --rounds {}",
      shell_quoted(said.input.model), shell_quoted(run.devices),
      shell_quoted(strategy.edited() ? run.strategy_file : strategy.source),
      setting_options(said, {"dim", "batch_per_device", "sync", "bucket", "optimizer"}),
      run.rounds);
}

// Cuts of a file or by hand are of so many devices; the other strategies are made for any. Of
// devices that this machine lacks nobody knows.
std::string why_no_command(const Runner& runner, const RealRun& run, const Scene* scene) try {
  const StrategyChoice& choice = run.document.strategy;
  const bool is_placed = choice.edited() || choice.source.ends_with(".json");
  if (!is_placed || scene == nullptr || scene->document != run.document) return {};
  check_fits(scene->prediction.strategy.configs(), runner.cluster(run.devices), run.devices);
  return {};
} catch (const InputError& error) {
  return error.message();
} catch (const EnvironmentError&) {
  return {};
}

std::string round_text(const MeasureProgress& at, const RealRun& run) {
  if (at.simulated) return fmt::format("simulating round {} of {}", at.round + 1, at.of);
  const std::size_t first = at.of - run.rounds;
  if (at.round < first) return fmt::format("warm-up {} of {}", at.round + 1, first);
  return fmt::format("round {} of {}", at.round - first + 1, run.rounds);
}

RealOutcome run_for_real(Runner& runner, const RealRun& run, const std::atomic<bool>* cancelled,
                         const std::function<void(const MeasureProgress&)>& progress) {
  ValidateRequest request = request_for(run);
  request.strategies = {strategy_for(runner, run)};
  ValidateReport report = validate(runner, request, cancelled, progress);
  if (report.stopped) throw Cancelled{};
  ValidateCase& result = report.cases.front();
  RealOutcome outcome{
      nullptr, result.predicted, result.measured, result.spread, result.samples, report.disturbance,
      run};
  outcome.measured = measured_of(std::move(result), run);
  return outcome;
}

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
  // By the fastest: of few steps most may be preempted.
  const Seconds fastest = result.steps[order.front()].time;
  std::size_t calm = 0;
  for (MeasuredStep& step : result.steps) {
    step.preempted = step.time > kFarLonger * fastest;
    if (!step.preempted) ++calm;
  }
  result.median = order[std::min((order.size() - 1) / 2, calm - 1)];
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
