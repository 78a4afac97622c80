// `strata replay PLAN --cluster C`: the engine alone, on activities from a file.

#include <chrono>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/options/setting_options.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "sim/base/error.h"
#include "sim/engine/engine.h"
#include "sim/replay/replay.h"
#include "sim/text/file.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::size_t kListedActivities = 20;

struct ReplayFlags {
  std::string plan, cluster, csv_file;
  WhatIfs sets;
  bool json = false;
};

// Quoted where it must be (RFC 4180).
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv(const ReplayPlan& plan, const ActivityTimes& times) {
  std::string text = "id,ready_seconds,start_seconds,end_seconds\n";
  for (std::size_t i = 0; i < plan.ids.size(); ++i) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{}\n", csv_field(plan.ids[ActivityId(i)]),
                   to_seconds(times.ready[i]).value, to_seconds(times.start[i]).value,
                   to_seconds(times.end[i]).value);
  }
  return text;
}

void print_activities(const ReplayPlan& plan, const ActivityTimes& times, double engine_seconds) {
  TextTable table({{"activity", TextTable::Align::left}, {"ready"}, {"start"}, {"end"}});
  for (std::size_t i = 0; i < std::min(kListedActivities, plan.ids.size()); ++i) {
    table.add_row({std::string(plan.ids[ActivityId(i)]), format_seconds(to_seconds(times.ready[i])),
                   format_seconds(to_seconds(times.start[i])),
                   format_seconds(to_seconds(times.end[i]))});
  }
  print("{}", table.print());
  if (plan.ids.size() > kListedActivities) {
    print("... and {} more (--json or --csv FILE has all)\n", plan.ids.size() - kListedActivities);
  }
  print("\nmakespan {} over {} activities; the engine took {}\n",
        format_seconds(to_seconds(times.makespan)),
        format_count(static_cast<std::int64_t>(plan.ids.size())),
        format_seconds(Seconds{engine_seconds}));
}

// Silence would look as if the straggler did not matter.
void warn_of_speeds(const WhatIfs& changes) {
  for (const auto& [key, value] : changes) {
    if (!key.starts_with("device.")) continue;
    warn(fmt::format("--set {}={}: a device's speed does not change the seconds of a plan", key,
                     value));
  }
}

void run(const ReplayFlags& flags) {
  check_outputs({flags.csv_file}, {flags.plan, flags.cluster});
  const Cluster cluster = load_cluster(flags.cluster, flags.sets);
  warn_of_speeds(flags.sets);
  const ReplayPlan plan = read_replay(flags.plan, cluster);
  const auto before = std::chrono::steady_clock::now();
  const ActivityTimes times = simulate(plan);
  const std::chrono::duration<double> engine = std::chrono::steady_clock::now() - before;
  if (!flags.csv_file.empty()) write_file_whole(flags.csv_file, csv(plan, times));
  if (flags.json) return print_times(plan, times, Seconds{engine.count()}, write_output);
  print_activities(plan, times, engine.count());
}

}  // namespace

void add_replay_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("replay", "run activities from a file through the discrete-event engine");
  auto flags = std::make_shared<ReplayFlags>();
  command
      ->add_option(
          "PLAN", flags->plan,
          "activities as JSON or JSONL (docs/replay.md; strata predict --plan writes them)")
      ->required();
  add_setting(*command, "cluster", flags->cluster)->required();
  add_what_ifs(*command, flags->sets);
  command->add_option("--csv", flags->csv_file, "write the times of all activities as CSV");
  command->add_flag("--json", flags->json, "print JSON")->disable_flag_override();
  command->callback([flags] { run(*flags); });
}

}  // namespace strata
