// `strata sweep SCENARIO`: every case of a scenario file, answered into a database; and
// `strata merge`, which brings the databases of several hosts together.

#include <charconv>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <malloc.h>

#include "cli/commands/commands.h"
#include "cli/commands/interrupt.h"
#include "cli/options/usage.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/output/provenance.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/json/sweep_json.h"
#include "sim/study/sweep/sweep.h"
#include "sim/text/units.h"

namespace strata {
namespace {

struct SweepFlags {
  std::string typed, scenario, database, shard;
  unsigned threads = 0;
  bool dry_run = false, json = false;
};

Invocation this_invocation(const SweepFlags& flags) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return {STRATA_VERSION, flags.typed, host_name(),
          fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now))};
}

// "3/8".
void read_shard(const std::string& text, SweepRequest& request) {
  if (text.empty()) return;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, request.shard);
  const bool slash = first.ec == std::errc{} && first.ptr != end && *first.ptr == '/';
  const auto last = slash ? std::from_chars(first.ptr + 1, end, request.shards) : first;
  const bool whole = slash && last.ec == std::errc{} && last.ptr == end;
  if (whole && request.shard >= 1 && request.shard <= request.shards) return;
  throw InputError(fmt::format("--shard {}: allowed: I/N with I from 1 to N, as 3/8", text));
}

SweepRequest request_of(const SweepFlags& flags) {
  SweepRequest request;
  request.scenario = read_scenario(flags.scenario);
  request.store = flags.database;
  if (request.store.empty()) {
    request.store = std::filesystem::path(flags.scenario).stem().string() + ".db";
  }
  refuse_overwriting({request.store}, {flags.scenario});
  request.threads = flags.threads;
  read_shard(flags.shard, request);
  request.invocation = this_invocation(flags);
  return request;
}

class Progress {
 public:
  void show(const SweepCount& count) {
    const std::size_t now = count.done + count.failed;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
    const double rate = took.count() > 0 ? static_cast<double>(now) / took.count() : 0;
    const std::string failed = count.failed > 0 ? fmt::format(", {} failed", count.failed) : "";
    const std::string left =
        rate > 0 ? fmt::format(", {:.0f}/s, {} left", rate,
                               format_seconds({static_cast<double>(count.left()) / rate}))
                 : "";
    line_.show("sweep",
               fmt::format("sweep: {} of {}{}{}", count.before + now, count.cases, failed, left));
  }

 private:
  ProgressLine line_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

void print_count(const SweepRequest& request, const SweepCount& count) {
  print("{}: {} cases in {}: {} stored before, {} answered now", request.scenario.name, count.cases,
        request.store, count.before, count.done);
  if (count.failed > 0) print(", {} without an answer", count.failed);
  if (count.elsewhere > 0) print(", {} at work elsewhere", count.elsewhere);
  print("\n");
}

// Each answer takes some megabytes and gives them back: the system would hand them out page by
// page, again and again.
void keep_freed_memory() {
  constexpr int kKept = 256 << 20;
  mallopt(M_TRIM_THRESHOLD, kKept);
  mallopt(M_MMAP_THRESHOLD, kKept);
}

SweepCount sweep_with_progress(Runner& runner, const SweepRequest& request) try {
  keep_freed_memory();
  const InterruptFlag interrupt;
  Progress progress;
  return sweep(runner, request, interrupt.get(),
               [&](const SweepCount& count) { progress.show(count); });
} catch (const Cancelled&) {
  throw JobFailed(fmt::format(
      "interrupted; the answers so far are in {}, and the same command continues", request.store));
}

void count_only(Runner& runner, const SweepRequest& request, bool json) {
  const SweepCount count = count_sweep(runner, request);
  if (json) return print_json(sweep_json(request, count));
  print("{}: {} cases, {} of them stored in {}\n", request.scenario.name, count.cases, count.before,
        request.store);
}

void run_sweep(Runner& runner, const SweepFlags& flags) {
  const SweepRequest request = request_of(flags);
  if (flags.dry_run) return count_only(runner, request, flags.json);
  const SweepCount count = sweep_with_progress(runner, request);
  flags.json ? print_json(sweep_json(request, count)) : print_count(request, count);
  if (count.unanswered == 0) return;
  throw JobFailed(
      fmt::format("{} without an answer; strata query {} \"SELECT * FROM failures\" says why",
                  counted(count.unanswered, "case", "cases"), request.store));
}

struct MergeFlags {
  std::string into;
  std::vector<std::string> from;
};

void run_merge(const MergeFlags& flags) {
  refuse_overwriting({flags.into}, flags.from);
  for (const std::string& file : flags.from) Store(file, OpenMode::read);  // before one is made
  Store store(flags.into);
  for (const std::string& file : flags.from) {
    const std::size_t rows = store.merge(file);
    print("{}: {} new rows from {}\n", flags.into, rows, file);
  }
}

}  // namespace

void add_sweep_command(CLI::App& app, Runner& runner, const std::string& typed) {
  CLI::App* command =
      app.add_subcommand("sweep", "answer every case of a scenario and store the answers");
  auto flags = std::make_shared<SweepFlags>();
  flags->typed = typed;
  command->add_option("SCENARIO", flags->scenario, "a .toml file (docs/scenarios.md)")->required();
  command->add_option(
      "--db", flags->database,
      "the database; what is in it is not answered again (default: named as the scenario, "
      "ending in .db, in this folder)");
  add_whole_number(*command, "-j,--threads", flags->threads,
                   whole_range(setting("threads"), Job::predict), "cores to use (default: all)");
  command->add_option("--shard", flags->shard,
                      "I/N: only every N-th case from the I-th on, for the jobs of an array");
  command->add_flag("--dry-run", flags->dry_run, "only check and count")->disable_flag_override();
  command->add_flag("--json", flags->json, "print JSON")->disable_flag_override();
  command->callback([flags, &runner] { run_sweep(runner, *flags); });
}

void add_merge_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("merge", "merge the rows of several databases into one");
  auto flags = std::make_shared<MergeFlags>();
  command->add_option("INTO", flags->into, "a database; created if it does not exist")->required();
  command->add_option("FROM", flags->from, "databases to take rows from")->required();
  command->callback([flags] { run_merge(*flags); });
}

}  // namespace strata
