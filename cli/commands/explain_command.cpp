// `strata explain MODEL --cluster C`: why a strategy's step takes its time; with --layer L, every
// config of a layer, what it costs and what insisting on it would cost.

#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/options/case_options.h"
#include "cli/options/setting_options.h"
#include "cli/output/case_header.h"
#include "cli/output/explain_output.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "sim/base/error.h"
#include "sim/explain/choices.h"
#include "sim/json/answer_json.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"

namespace strata {
namespace {

struct ExplainFlags {
  ExplainRequest request;
  bool all = false;
  bool json = false;
};

void run(const ExplainFlags& flags) {
  if (flags.all && flags.request.layer.empty()) {
    throw InputError("--all is of the configs of a layer; allowed: with --layer");
  }
  AskOptions options;
  options.warn = warn;
  const Answer answer = ask(flags.request, options);
  if (flags.json) return print_json(to_json(answer));
  const Case& input = *answer.input;
  print_header(input);
  const auto* const layer = std::get_if<ExplainedLayer>(&answer.found);
  print("{}", layer != nullptr ? explained_text(input, *layer, flags.all)
                               : story_text(input, std::get<Story>(answer.found)));
}

}  // namespace

void add_explain_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "explain",
      "explain a strategy's step, or the cut of a layer: what is hidden, what is exposed, and what "
      "would have to be true for another to win");
  auto flags = std::make_shared<ExplainFlags>();
  add_request(*command, flags->request);
  command->get_option("--strategy")->capture_default_str();
  command->add_option(
      "--layer", flags->request.layer,
      "every config of this layer (strata show), its step, its costs and its regret; "
      "without it, the story of the whole strategy");
  command->add_flag("--all", flags->all, "list every config of the layer, not only the best 16")
      ->disable_flag_override();
  command->add_flag("--json", flags->json, "print JSON")->disable_flag_override();
  command->callback([flags] { run(*flags); });
}

}  // namespace strata
