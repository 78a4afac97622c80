// `strata solve MODEL --cluster C`: the fastest strategy, and what is proved about it.

#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/commands/interrupt.h"
#include "cli/options/case_options.h"
#include "cli/options/setting_options.h"
#include "cli/output/case_header.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/output/solve_output.h"
#include "sim/ask/ask.h"
#include "sim/json/answer_json.h"
#include "sim/json/solve_json.h"
#include "sim/search/within_memory.h"
#include "sim/strategy/strategy_file.h"
#include "sim/text/file.h"
#include "sim/text/split.h"
#include "sim/text/units.h"

namespace strata {
namespace {

struct SolveFlags {
  SolveRequest request;
  std::string keep;
  std::string output;
  bool json = false;
};

void print_solved(const Case& input, const SolveNames& names, const Solved& solved) {
  print_header(input);
  print("{}\n{}\n{}{}", grouped_table(input.graph, solved.best.front().strategy),
        comparison_table(input, solved), proof_text(solved, names), effort_text(solved));
}

void check_output(const SolveFlags& flags) {
  check_outputs({flags.output}, files_read(flags.request.input, {flags.request.strategy}));
  check_strategy_file(flags.output);
}

Answer ask_with_progress(const SolveRequest& request, const InterruptFlag& interrupt) {
  ProgressLine line;
  AskOptions options;
  options.cancelled = interrupt.get();
  options.warn = warn;
  options.searching = [&line](const SolveProgress& progress) { line.show(progress); };
  return ask(request, options);
}

void run(const SolveFlags& flags) {
  check_output(flags);
  SolveRequest request = flags.request;
  if (!flags.keep.empty()) request.keep = split_at_commas(flags.keep);
  const InterruptFlag interrupt;
  const Answer answer = ask_with_progress(request, interrupt);
  const Case& input = *answer.input;
  const Solved& solved = std::get<Solved>(answer.found);
  if (solved.best.empty()) {
    throw JobFailed(none_found(input, solved, request.search.memory_limit));
  }
  const SolveNames names = solve_names(request, input, interrupt.is_set());
  if (!interrupt.is_set() && !flags.output.empty()) {
    write_file_whole(flags.output,
                     print_strategy(solved.best.front().strategy, input.graph, input.cluster));
  }
  if (flags.json) {
    print_json(to_json(answer, {{}, interrupt.is_set()}));
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
  SolveRequest& request = flags->request;
  add_request(*command, request, {"steps", "jitter"});
  command->get_option("--strategy")
      ->description("for --keep: data, model, owt, hybrid:..., optimal or a .json file");
  command->add_option("-o,--output", flags->output, "write the strategy to this .json file");
  command->add_option("--keep", flags->keep,
                      "layers, between commas, that keep the cuts of --strategy; the search "
                      "finds the others");
  command->add_flag("--json", flags->json, "print JSON")->disable_flag_override();
  command->callback([flags] { run(*flags); });
}

}  // namespace strata
