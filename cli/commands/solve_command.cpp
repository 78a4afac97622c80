// `strata solve MODEL --cluster C`: the fastest strategy, and what is proved about it.

#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/commands/interrupt.h"
#include "cli/options/case_options.h"
#include "cli/options/keep_options.h"
#include "cli/options/setting_options.h"
#include "cli/output/case_header.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/output/solve_output.h"
#include "cli/output/trust_output.h"
#include "sim/base/error.h"
#include "sim/search/within_memory.h"
#include "sim/strategy/strategy_file.h"
#include "sim/text/file.h"
#include "sim/text/units.h"

namespace strata {
namespace {

struct SolveFlags {
  CaseRequest input;
  SolveOptions options;
  std::optional<Objective> objective;
  KeepFlags keep;
  std::string output;
  bool no_simulation = false, json = false;
};

// What has no simulation is searched for under Eq. 1.
Objective usual_objective(const SolveFlags& flags) {
  const bool simulates =
      !flags.no_simulation && flags.options.algorithm == SearchAlgorithm::elimination;
  return simulates ? Objective::simulated : Objective::eq1;
}

// The answer, where a larger limit was set; the usual strategies, which are no answers then.
void warn_of_memory(const Solved& solved) {
  const auto too_large = [](const Scored& scored) {
    if (scored.fits) return;
    warn(fmt::format("{}: a device needs {} of memory, more than it has", scored.strategy.name(),
                     format_bytes(scored.peak_memory)));
  };
  for (const Scored& usual : solved.baselines) too_large(usual);
  const std::string& name = solved.best.front().strategy.name();
  const auto told = [&](const Scored& usual) { return usual.strategy.name() == name; };
  if (std::ranges::none_of(solved.baselines, told)) too_large(solved.best.front());
}

void print_solved(const Case& input, const SolveNames& names, const Solved& solved) {
  print_header(input);
  print("{}\n{}\n{}{}", grouped_table(input.graph, solved.best.front().strategy),
        comparison_table(input, solved), proof_text(solved, names), effort_text(solved));
}

void check_output(const SolveFlags& flags) {
  check_outputs({flags.output}, files_read(flags.input, {flags.keep.strategy}));
  check_strategy_file(flags.output);
}

void run(SolveFlags& flags) {
  SolveOptions& options = flags.options;
  options.simulate = !flags.no_simulation;
  options.objective = flags.objective.value_or(usual_objective(flags));
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
    throw JobFailed(none_found(input, solved, options.memory_limit));
  }

  const DegreeSet degrees =
      options.space.degrees.value_or(usual_degrees(input.cluster.device_count()));
  const SolveNames names{
      print_setting("degrees", degrees), print_setting("objective", options.objective),
      print_setting("algorithm", options.algorithm), kept_names(flags.keep), interrupt.is_set()};
  warn_of_memory(solved);
  const Scored& best = solved.best.front();
  if (best.simulated()) warn_if_implausible(input, best.strategy, best.step);
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
    throw JobFailed(
        flags.output.empty()
            ? std::string("interrupted; the output above is the best found so far")
            : fmt::format("interrupted; the output above is the best found so far, and {} is "
                          "not written",
                          flags.output));
  }
}

}  // namespace

void add_solve_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("solve", "find the fastest strategy, with proof");
  auto flags = std::make_shared<SolveFlags>();
  SolveOptions& options = flags->options;
  add_model_and_cluster(*command, flags->input);
  command->add_option("-o,--output", flags->output, "write the strategy to this .json file");
  add_setting(*command, "algorithm", options.algorithm);
  add_setting(*command, "objective", flags->objective);
  add_setting(*command, "k_best", options.k_best);
  add_setting(*command, "evaluations", options.evaluations);
  add_setting(*command, "gap", options.gap);
  add_setting(*command, "no_simulation", flags->no_simulation);
  add_keep_options(*command, flags->keep);
  add_search_settings(*command, options.space);
  add_setting(*command, "memory_limit", options.memory_limit);
  add_setting(*command, "time_limit", options.limits.time_limit);
  add_setting(*command, "threads", options.limits.threads);
  add_case_options(*command, flags->input);
  command->add_flag("--json", flags->json, "print JSON")->disable_flag_override();
  command->callback([flags] { run(*flags); });
}

}  // namespace strata
