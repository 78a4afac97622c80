// `strata profile MODEL… --devices D`: measures shards on this machine's devices, into a profile.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/commands/interrupt.h"
#include "cli/options/measure_options.h"
#include "cli/options/setting_options.h"
#include "cli/output/device_warnings.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/output/provenance.h"
#include "cli/output/table.h"
#include "sim/base/cancel.h"
#include "sim/json/profile_json.h"
#include "sim/measure/measure_profile.h"
#include "sim/profile/write_profile.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::size_t kProfileRounds = 15;

struct ProfileFlags {
  MeasureFlags measure;
  std::string typed;
  bool merge = false;
};

/// What was measured, and how long it took.
struct Outcome {
  ProfileReport report;
  Seconds seconds;
  std::string table;  ///< beside the profile's file, if one is written
};

// The profile to merge into, before anything is measured.
std::optional<Profile> older_profile(const ProfileFlags& flags, const Runner& runner) {
  if (!flags.merge) return {};
  const std::string& file = flags.measure.output;
  if (file.empty()) throw InputError("--merge is given without -o; allowed: both, or neither");
  Profile older = read_profile(file);
  check_mergeable(older, file, runner, flags.measure.devices);
  return older;
}

Outcome measure_with_progress(Runner& runner, const ProfileRequest& request) try {
  const InterruptFlag interrupt;
  MeasureProgressLine line;
  const auto began = std::chrono::steady_clock::now();
  Outcome outcome;
  outcome.report = measure_profile(runner, request, interrupt.get(),
                                   [&line](const MeasureProgress& p) { line.show(p); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  outcome.seconds = {took.count()};
  return outcome;
} catch (const Cancelled&) {
  throw JobFailed("interrupted; nothing is written");
}

std::string outcome_table(const Outcome& outcome) {
  const Profile& profile = outcome.report.profile;
  const RowSpread spread = row_spread(profile.measured);
  const Disturbance& d = outcome.report.disturbance;
  TextTable table;
  table.add({{"shard costs", fmt::format("{}", profile.measured.size())},
             {"moves", fmt::format("{}", profile.moves.size())},
             {"spread (median)", fmt::format("{:.1f}%", 100 * spread.median)},
             {"(p90)", fmt::format("{:.1f}%", 100 * spread.p90)},
             {"disturbed sweeps", fmt::format("{} of {}", d.left_out, d.of)},
             {"took", format_seconds(outcome.seconds)}});
  return table.print();
}

// Cores are a cluster by their name; GPUs, whose kind their driver knows, are predicted with a run.
std::string example(const ProfileFlags& of) {
  const MeasureFlags& flags = of.measure;
  std::string rest = fmt::format("{} --profile {}", batch_text(flags), flags.output);
  if (flags.training.optimizer != Optimizer::sgd)
    rest += fmt::format(" --optimizer {}", name(flags.training.optimizer));
  if (flags.devices.starts_with("cpu:")) {
    return fmt::format("strata predict {} --cluster {} {} --strategy {}", flags.models.front(),
                       flags.devices, rest, flags.strategies);
  }
  return fmt::format("strata run {} --devices {} --dtype {} {} --strategy data",
                     flags.models.front(), flags.devices, name(flags.training.dtype), rest);
}

void print_outcome(const ProfileFlags& of, const Outcome& outcome) {
  const MeasureFlags& flags = of.measure;
  const Profile& profile = outcome.report.profile;
  strata::print("{} on {} ({}): {} rounds\n\n{}\n", fmt::join(flags.models, ", "), flags.devices,
                profile.description, flags.rounds, outcome_table(outcome));
  if (flags.output.empty()) {
    print(
        "The profile is not written; -o F.toml writes it for --profile F.toml of other "
        "commands.\n");
    return;
  }
  print("Written: {}, and {} beside it. Now, for example,\n  {}\n", flags.output, outcome.table,
        example(of));
}

void profile_command(Runner& runner, const ProfileFlags& flags) {
  ProfileRequest request = measure_request<ProfileRequest>(flags.measure, flags.typed);
  const std::optional<Profile> older = older_profile(flags, runner);
  warn_of_shared_cores(runner, request.devices);
  Outcome outcome = measure_with_progress(runner, request);
  warn_if_disturbed(
      outcome.report.disturbance,
      "their times are left out where three undisturbed ones remain, and may be too long "
      "where not");
  Profile& profile = outcome.report.profile;
  if (older) profile = merged(*older, profile);
  if (!flags.measure.output.empty()) {
    outcome.table = write_profile(flags.measure.output, profile);
  }
  if (flags.measure.json) {
    print_json(profile_json(request, outcome.report, outcome.seconds, flags.measure.output));
  } else {
    print_outcome(flags, outcome);
  }
  if (outcome.report.stopped) {
    throw JobFailed(
        flags.measure.output.empty()
            ? "interrupted; the output above is what was measured so far"
            : fmt::format("interrupted; what was measured so far is in {}", flags.measure.output));
  }
}

}  // namespace

void add_profile_command(CLI::App& app, Runner& runner, const std::string& typed) {
  CLI::App* command =
      app.add_subcommand("profile", "measure what layers' shards cost on this machine's devices");
  auto flags = std::make_shared<ProfileFlags>();
  flags->typed = typed;
  add_measure_options(*command, flags->measure, kProfileRounds);
  add_setting(*command, "optimizer", flags->measure.training.optimizer)
      ->description(
          "whose updates are measured (default sgd); predictions of another optimizer take them to "
          "last longer as it moves more");
  command
      ->add_flag("--merge", flags->merge,
                 "add to the profile of -o: what is not measured now stays as it is")
      ->disable_flag_override();
  command->callback([flags, &runner] { profile_command(runner, *flags); });
}

}  // namespace strata
