// `strata run MODEL --devices D --strategy S`: trains for real, and says how fast.

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/commands/interrupt.h"
#include "cli/options/case_options.h"
#include "cli/options/setting_options.h"
#include "cli/options/usage.h"
#include "cli/output/device_warnings.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/output/provenance.h"
#include "cli/output/run_output.h"
#include "sim/ask/progress_text.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/exporters/trace/trace.h"
#include "sim/json/answer_json.h"
#include "sim/json/run_json.h"
#include "sim/measure/kept_costs.h"
#include "sim/text/file.h"
#include "sim/text/units.h"
#include "sim/train/run.h"

namespace strata {
namespace {

struct RunFlags {
  RunRequest request;
  std::string save_weights, trace_file, typed;
  bool json = false;
};

RunRequest request_of(const RunFlags& flags) {
  RunRequest request = flags.request;
  request.task_times = !flags.trace_file.empty();
  request.saves_weights = !flags.save_weights.empty();
  request.costs = {cost_folder(), fmt::format("{}, strata {}", host_name(), STRATA_VERSION),
                   today(), flags.typed};
  request.costs->recorded = request.recorded;
  return request;
}

// Of several processes, one writes; the others may be on hosts without these folders.
void check_files(const Runner& runner, const RunFlags& flags) {
  if (!runner.leads()) return;
  const RunRequest& r = flags.request;
  std::vector<std::string> read = files_of_profiles(r.input.profiles);
  read.insert(read.end(), {r.input.model, r.strategy});
  for (const std::string& folder : {r.data, r.test_data}) {
    if (!folder.empty()) read.insert(read.end(), {folder + "/input.npy", folder + "/labels.npy"});
  }
  check_outputs({flags.trace_file}, read);
  if (!flags.save_weights.empty()) check_new_folder(flags.save_weights);
}

using Clock = std::chrono::steady_clock;

std::string measuring_text(const RunProgress& p, Clock::time_point began) {
  std::string text = progress_text(p);
  if (p.steps == 0) return text;
  const std::chrono::duration<double> so_far = Clock::now() - began;
  const auto rest = static_cast<double>(p.of - p.steps) / static_cast<double>(p.steps);
  return fmt::format("{}, about {} left", text, format_seconds({so_far.count() * rest}));
}

Answer ask_with_progress(Runner& runner, const RunRequest& request) {
  const InterruptFlag interrupt;
  const Clock::time_point began = Clock::now();
  bool measuring = false;
  try {
    ProgressLine line;
    AskOptions options;
    options.cancelled = interrupt.get();
    options.runner = &runner;
    options.training = [&](const RunProgress& progress) {
      const bool costs = progress.stage == kMeasuringCosts;
      measuring = costs && progress.steps < progress.of;  // the search and the training follow
      line.show(std::string(progress.stage),
                costs ? measuring_text(progress, began) : progress_text(progress));
    };
    return ask(request, options);
  } catch (const Cancelled&) {
    throw JobFailed(measuring ? "interrupted while measuring costs; the next run continues with "
                                "those that were kept"
                              : "interrupted before there was anything to report");
  }
}

void tell_of_costs(const CostsUsed& costs) {
  if (!costs.files.empty()) return;
  note(costs_text(costs));
  for (const std::string& warning : costs.warnings) warn(warning);
}

void write_files(const RunFlags& flags, const RunReport& report, bool sound) {
  if (report.trained.stopped) return;
  if (!flags.trace_file.empty()) {
    const Timeline& measured = report.trained.last;
    write_file_whole(
        flags.trace_file,
        report.predicted
            ? print_trace(report.graph, report.cluster, report.plan, *report.predicted, measured)
            : print_trace(report.graph, report.cluster, report.plan, measured));
  }
  if (sound && !flags.save_weights.empty()) {
    write_weights(flags.save_weights, report.graph, report.weights);
  }
}

void run_command(Runner& runner, const RunFlags& flags) {
  const RunRequest request = request_of(flags);
  check_files(runner, flags);
  warn_of_shared_cores(runner, request.devices);
  const Answer answer = ask_with_progress(runner, request);
  if (!runner.leads()) return;
  const auto& [report, machine] = std::get<RunAnswer>(answer.found);
  for (const std::string& each : report.notes) note(each);
  if (report.costs) tell_of_costs(*report.costs);
  for (const std::string& doubt : answer.warnings) warn(doubt);
  const RunNames names{request.devices, machine, request.input.training};
  const std::string mismatch = mismatch_text(report);
  write_files(flags, report, mismatch.empty());
  if (flags.json) {
    print_json(to_json(answer));
  } else {
    print("{}", run_text(names, report));
  }
  if (report.trained.stopped) {
    throw JobFailed(
        "interrupted; the output above is of the steps done so far, and no file is written");
  }
  if (!mismatch.empty()) throw JobFailed(mismatch);
  const std::string doubt = unjudged(report);
  if (!doubt.empty()) throw JobUnjudged(doubt);
}

void add_training_options(CLI::App& command, RunFlags& flags) {
  RunRequest& request = flags.request;
  add_training(command, request.input.training, kBatchKeys);
  add_setting(command, "steps", request.steps, Job::run)
      ->description("how many steps to train (default 10)");
  add_setting(command, "warmup", request.warmup, Job::run);
  add_setting(command, "lr", request.learning_rate);
  add_setting(command, "beta1", request.constants.beta1);
  add_setting(command, "beta2", request.constants.beta2);
  add_setting(command, "epsilon", request.constants.epsilon);
  add_setting(command, "weight_decay", request.constants.weight_decay);
  add_setting(command, "seed", request.seed);
  add_training(command, request.input.training, kStepKeys);
}

void add_ways_to_run(CLI::App& command, RunRequest& request) {
  command.add_flag("--serial", request.serial, "each GPU runs one task at a time, in plan order")
      ->disable_flag_override();
  command
      .add_flag("--graph", request.recorded,
                "record a step and launch it whole; --trace then has only the last step's tasks")
      ->disable_flag_override();
}

void add_files(CLI::App& command, RunFlags& flags) {
  RunRequest& request = flags.request;
  command.add_option("--data", request.data,
                     "a folder with input.npy and labels.npy to train on (default: synthetic)");
  command.add_option("--test-data", request.test_data,
                     "the same, to test on when the training is done");
  command.add_option("--weights", request.weights,
                     "a folder with LAYER.weight.npy and LAYER.bias.npy to start from");
  command.add_option("--save-weights", flags.save_weights,
                     "a new or empty folder for the trained weights");
  command.add_option("--trace", flags.trace_file,
                     "write the last steps as trace-event JSON (Perfetto opens it)");
  add_setting(command, "profile", request.input.profiles)
      ->allow_extra_args(false)
      ->description(
          "a .toml file of strata profile for these devices: the run is predicted, too, and "
          "--strategy optimal searches with it (default: what it needs is measured first, and "
          "kept in $XDG_CACHE_HOME/strata/costs, else ~/.cache/strata/costs); repeatable");
}

}  // namespace

void add_run_command(CLI::App& app, Runner& runner, const std::string& typed) {
  CLI::App* command = app.add_subcommand("run", "train for real on this machine's devices");
  auto flags = std::make_shared<RunFlags>();
  flags->typed = typed;
  RunRequest& request = flags->request;
  add_model(*command, request.input);
  add_device_settings(*command, request.devices, request.input.training.dtype);
  add_setting(*command, "strategy", request.strategy)->required();
  add_training_options(*command, *flags);
  add_files(*command, *flags);
  command
      ->add_flag("--check", request.check,
                 "compare with one device: each layer, and the result of the training")
      ->disable_flag_override();
  add_setting(*command, "tolerance", request.tolerance);
  add_ways_to_run(*command, request);
  add_search_settings(*command, request.space, "Of --strategy optimal");
  command->add_flag("--json", flags->json, "print JSON")->disable_flag_override();
  command->callback([flags, &runner] { run_command(runner, *flags); });
}

}  // namespace strata
