// `strata solve MODEL --cluster C`: the fastest strategy, and what is proved about it.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/case_options.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/keep_flags.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/search_flags.h"
#include "cli/solve_output.h"
#include "cli/usage.h"
#include "sim/base/error.h"
#include "sim/strategy/strategy_file.h"
#include "sim/study/search/none_found.h"
#include "sim/text/file.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::int64_t kMostStrategies = 10000, kMostEvaluations = 1000000, kMostThreads = 1024;

struct SolveFlags {
  CaseFlags input;
  SearchFlags search;
  KeepFlags keep;
  std::string output, algorithm = "elimination", objective = "eq1";
  std::optional<std::string> memory_limit, time_limit;
  std::size_t k_best = 1, evaluations = 200;
  unsigned threads = 0;
  bool no_simulation = false, json = false;
};

Bytes parse_memory_limit(const std::string& text) try {
  return parse_bytes(text);
} catch (InputError& error) {
  error.add_context("--memory-limit");
  throw;
}

double parse_time_limit(const std::string& text) try {
  const double seconds = parse_number(text, "number of seconds");
  if (seconds >= 0) return seconds;
  throw InputError(fmt::format("'{}' is below zero", text));
} catch (const InputError& error) {
  throw InputError(
      fmt::format("--time-limit: {}; allowed: a number of at least 0", error.message()));
}

SolveOptions solve_options(const SolveFlags& flags) {
  const auto algorithm = parse_search_algorithm(flags.algorithm);
  if (!algorithm) {
    throw InputError(
        fmt::format("--algorithm {}: unknown; allowed: elimination, dfs", flags.algorithm));
  }
  const auto objective = parse_objective(flags.objective);
  if (!objective) {
    throw InputError(
        fmt::format("--objective {}: unknown; allowed: eq1, simulated", flags.objective));
  }
  SolveOptions options;
  options.space = search_options(flags.search);
  options.algorithm = *algorithm;
  options.objective = *objective;
  options.k_best = flags.k_best;
  options.simulate = !flags.no_simulation;
  options.evaluations = flags.evaluations;
  options.limits.threads = flags.threads;
  if (flags.memory_limit) options.memory_limit = parse_memory_limit(*flags.memory_limit);
  if (flags.time_limit) options.limits.time_limit = parse_time_limit(*flags.time_limit);
  return options;
}

// What a device of the cluster has, at the least.
Bytes capacity(const Case& input) {
  Bytes least = input.models.front()->memory_capacity();
  for (const auto& model : input.models) least = std::min(least, model->memory_capacity());
  return least;
}

void warn_if_too_large(const Case& input, const Scored& best) {
  if (best.peak_memory <= capacity(input)) return;
  warn(fmt::format(
      "{}: a device needs {} of memory and has {}; --memory-limit {} asks for one that fits",
      best.strategy.name(), format_bytes(best.peak_memory), format_bytes(capacity(input)),
      capacity(input).value));
}

void print_solved(const Case& input, const SolveNames& names, const Solved& solved) {
  print_header(input);
  print("{}\n{}\n{}{}", grouped_table(input.graph, solved.best.front().strategy),
        comparison_table(solved), proof_text(solved, names), effort_text(solved));
}

void check_output(const SolveFlags& flags) {
  check_outputs({flags.output}, files_read(flags.input, {flags.keep.strategy}));
  if (!flags.output.empty() && !flags.output.ends_with(".json")) {
    throw InputError(
        fmt::format("-o {}: a strategy is read from a file that ends in .json; allowed: "
                    "such a name",
                    flags.output));
  }
}

void run(SolveFlags& flags) {
  SolveOptions options = solve_options(flags);
  check_output(flags);
  check(flags.keep);
  const Case input = load(flags.input);
  options.kept = kept_layers(flags.keep, options.space, input);
  const InterruptFlag interrupt;
  ProgressLine line;
  options.limits.cancelled = interrupt.get();
  options.limits.progress = [&line](const SolveProgress& progress) { line.show(progress); };
  const Solved solved = solve(input, options);
  line.clear();
  if (solved.best.empty()) {
    throw JobFailed(none_found(input, solved, "--memory-limit", *options.memory_limit));
  }

  const DegreeSet degrees =
      options.space.degrees.value_or(usual_degrees(input.cluster.device_count()));
  const SolveNames names{std::string(name(degrees)), flags.objective, flags.algorithm,
                         kept_names(flags.keep)};
  warn_if_too_large(input, solved.best.front());
  if (!interrupt.is_set() && !flags.output.empty()) {
    write_file_whole(flags.output,
                     print_strategy(solved.best.front().strategy, input.graph, input.cluster));
  }
  if (flags.json) {
    print_json(solved_json(input, names, solved));
  } else {
    print_solved(input, names, solved);
  }
  if (interrupt.is_set()) {
    throw JobFailed(flags.output.empty()
                        ? std::string("interrupted; above is what was found until then")
                        : fmt::format("interrupted; above is what was found until then, and {} is "
                                      "not written",
                                      flags.output));
  }
}

void add_limits(CLI::App& command, SolveFlags& flags) {
  command.add_option("--memory-limit", flags.memory_limit,
                     "bytes that a device may need at its peak, or as \"12 GiB\"");
  command.add_option("--time-limit", flags.time_limit,
                     "seconds after which the best until then is given, with its gap");
  command.add_option("--threads", flags.threads, "how many cores to use (default all)")
      ->check(whole_number(1, kMostThreads));
}

}  // namespace

void add_solve_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("solve", "find the fastest strategy, with proof");
  auto flags = std::make_shared<SolveFlags>();
  add_model_and_cluster(*command, flags->input);
  command->add_option("-o,--output", flags->output, "write the strategy to this .json file")
      ->check(named_file());
  command->add_option("--algorithm", flags->algorithm,
                      "elimination, or dfs: the paper's depth-first search (default elimination)");
  command->add_option("--objective", flags->objective,
                      "eq1, or simulated: search on under the simulated step time (default eq1)");
  command->add_option("--k-best", flags->k_best, "find the K best strategies (default 1)")
      ->check(whole_number(1, kMostStrategies));
  command
      ->add_option(
          "--evaluations", flags->evaluations,
          "how many strategies --objective simulated may simulate beyond its first (default 200)")
      ->check(whole_number(1, kMostEvaluations));
  command
      ->add_flag("--no-simulation", flags->no_simulation,
                 "give Eq. 1 times alone: quick on clusters of thousands")
      ->disable_flag_override();
  add_keep_options(*command, flags->keep);
  add_search_options(*command, flags->search);
  add_limits(*command, *flags);
  add_case_options(*command, flags->input);
  command->add_flag("--json", flags->json, "print JSON")->disable_flag_override();
  command->callback([flags] { run(*flags); });
}

}  // namespace strata
