// `strata validate MODEL… --devices D`: predicts steps from measured shards, runs them, compares.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/commands/interrupt.h"
#include "cli/commands/validate_published.h"
#include "cli/options/measure_options.h"
#include "cli/options/setting_options.h"
#include "cli/output/device_warnings.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/output/provenance.h"
#include "cli/output/validate_output.h"
#include "sim/base/cancel.h"
#include "sim/exporters/trace/trace.h"
#include "sim/json/validate_json.h"
#include "sim/profile/write_profile.h"
#include "sim/strategy/hybrid.h"
#include "sim/study/validate/validate.h"
#include "sim/text/file.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::size_t kValidateRounds = 9;
constexpr double kMostSeconds = 1e6;

struct ValidateFlags {
  MeasureFlags measure;
  std::string typed, seconds, tolerance, trace_file;
  bool only = false;
  bool published = false;
  std::vector<std::string> others;  // options that were given, but those of published figures
  WhatIfs sets;                     // of published figures
};

std::optional<double> tolerance_of(const ValidateFlags& flags) try {
  if (flags.tolerance.empty()) return {};
  const double value = parse_number(flags.tolerance);
  if (value >= 0) return value;
  throw InputError(fmt::format("'{}' is below zero", flags.tolerance));
} catch (const InputError& error) {
  throw InputError(fmt::format("--tolerance: {}; allowed: a number of at least 0, 0.1 for 10 %",
                               error.message()));
}

std::optional<Seconds> seconds_of(const ValidateFlags& flags) try {
  if (flags.seconds.empty()) return {};
  const double value = parse_number(flags.seconds);
  if (value > 0 && value <= kMostSeconds) return Seconds{value};
  throw InputError(fmt::format("'{}' is no such time", flags.seconds));
} catch (const InputError& error) {
  throw InputError(fmt::format("--seconds: {}; allowed: a number above 0, at most {:.0f}",
                               error.message(), kMostSeconds));
}

ValidateRequest request_of(const ValidateFlags& flags) {
  auto request = measure_request<ValidateRequest>(flags.measure, flags.typed);
  request.each_count = !flags.only;
  request.seconds = seconds_of(flags);
  request.limit = tolerance_of(flags).value_or(request.limit);
  return request;
}

void check_files(const ValidateFlags& flags, std::vector<std::string> read) {
  read.insert(read.end(), flags.measure.models.begin(), flags.measure.models.end());
  std::vector<std::string> written = {flags.trace_file};
  const std::string& profile = flags.measure.output;
  if (!profile.empty()) written.insert(written.end(), {profile, new_costs_table(profile)});
  check_outputs(written, read);
}

ValidateReport validate_with_progress(Runner& runner, const ValidateRequest& request) try {
  const InterruptFlag interrupt;
  MeasureProgressLine line;
  return validate(runner, request, interrupt.get(),
                  [&line](const MeasureProgress& p) { line.show(p); });
} catch (const Cancelled&) {
  throw JobFailed("interrupted before there was anything to report");
}

void write_files(const ValidateFlags& flags, const ValidateReport& report) {
  const bool measured = !report.profile.kind.empty();  // not where it was interrupted before
  if (measured && !flags.measure.output.empty()) {
    write_profile(flags.measure.output, report.profile);
  }
  if (flags.trace_file.empty()) return;
  const ValidateCase& c = report.worst_case();
  write_file_whole(flags.trace_file, print_trace(c.graph, c.cluster, c.plan, c.predicted_timeline,
                                                 c.measured_timeline));
}

void validate_command(Runner& runner, const ValidateFlags& flags) {
  if (flags.published) {
    if (!flags.others.empty()) {
      throw InputError(fmt::format("{} does not go with --published", flags.others.front()));
    }
    return validate_published(
        {flags.measure.models, flags.sets, flags.measure.output, flags.measure.json, flags.typed});
  }
  if (flags.measure.models.empty()) throw InputError("MODEL is required, or --published");
  if (flags.measure.devices.empty()) throw InputError("--devices is required, or --published");
  if (!flags.sets.empty()) throw InputError("--set goes with --published; a run is what it is");
  const std::string& devices = flags.measure.devices;
  const ValidateRequest request = request_of(flags);
  const std::optional<double> tolerance = tolerance_of(flags);
  check_files(flags, split_strategies(flags.measure.strategies));
  warn_of_shared_cores(runner, devices);
  const ValidateReport report = validate_with_progress(runner, request);
  write_files(flags, report);
  if (flags.measure.json) {
    print_json(validate_json(report, runner.description(devices), request));
  } else {
    print("{}", validate_text(report, runner.description(devices), flags.typed));
  }
  if (report.stopped) throw JobFailed("interrupted; the output above is what was measured so far");
  const std::string failure = validate_failure(report, tolerance);
  if (!failure.empty()) throw JobFailed(failure);
  const std::string doubt = tolerance ? unjudged(report, flags.typed) : "";
  if (!doubt.empty()) throw EnvironmentError(doubt);
}

}  // namespace

void add_validate_command(CLI::App& app, Runner& runner, const std::string& typed) {
  CLI::App* command = app.add_subcommand(
      "validate", "compare predicted with measured steps on this machine's devices");
  auto flags = std::make_shared<ValidateFlags>();
  flags->typed = typed;
  add_measure_options(*command, flags->measure, kValidateRounds);
  add_training(*command, flags->measure.training, kStepKeys);
  command
      ->add_flag("--only", flags->only, "on all devices only, not on each smaller number of them")
      ->disable_flag_override();
  command
      ->add_option("--seconds", flags->seconds,
                   "instead of --rounds: as many as fit into this time, for each network on each "
                   "number of devices")
      ->excludes("--rounds");
  command->add_option(
      "--tolerance", flags->tolerance,
      "the error above which a prediction is off (default 0.1, for 10 %): fail where one "
      "is off (exit code 1), or where one cannot be judged (3)");
  command
      ->add_flag(
          "--published", flags->published,
          "instead: predict training steps that others measured and published (MODEL: names "
          "of such figures, or .toml files; default all that ship) and report the errors, in "
          "--output too (.md or .html)")
      ->disable_flag_override();
  command->get_option("MODEL")->required(false);
  command->get_option("--devices")->required(false);
  add_what_ifs(*command, flags->sets);
  command->add_option("--trace", flags->trace_file,
                      "write both timelines of the largest error's case as trace-event JSON");
  command->callback([flags, command, &runner] {
    constexpr std::string_view kOwn[] = {"MODEL", "--published", "--set", "--output", "--json"};
    for (const CLI::Option* option : command->get_options()) {
      const std::string name = option->get_name();
      if (option->count() > 0 && std::ranges::find(kOwn, name) == std::end(kOwn)) {
        flags->others.push_back(name);
      }
    }
    validate_command(runner, *flags);
  });
}

}  // namespace strata
