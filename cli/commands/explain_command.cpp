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
#include "cli/output/trust_output.h"
#include "sim/base/error.h"
#include "sim/explain/choices.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"

namespace strata {
namespace {

constexpr std::size_t kNamed = 8;

struct ExplainFlags {
  CaseRequest input;
  SearchOptions space;
  std::string strategy = "optimal", layer;
  bool all = false;
  bool json = false;
};

// How many letters two names share at the front: typing errors sit at the end of layers' names.
std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(ends.first - a.begin());
}

// The names that are most like this one, in the network's order among equals.
std::string names_near(const Graph& graph, const std::string& layer) {
  std::vector<std::string_view> names;
  for (const Layer& l : graph.layers()) {
    if (!is_input(l.op)) names.push_back(l.name);
  }
  std::stable_sort(names.begin(), names.end(), [&](std::string_view a, std::string_view b) {
    return common_prefix(a, layer) > common_prefix(b, layer);
  });
  const bool more = names.size() > kNamed;
  names.resize(std::min(names.size(), kNamed));
  return fmt::format("{}{}", fmt::join(names, ", "), more ? ", ..." : "");
}

LayerId find_layer(const Graph& graph, const std::string& layer) {
  const LayerId id = graph.find(layer);
  if (!id.valid()) {
    throw InputError(fmt::format(
        "--layer {}: network {} has no such layer; allowed: {} (strata show has them all)", layer,
        graph.name(), names_near(graph, layer)));
  }
  if (is_input(graph[id].op)) {
    throw InputError(
        fmt::format("--layer {}: the network's input costs nothing to place; allowed: "
                    "{}",
                    layer, names_near(graph, layer)));
  }
  return id;
}

void explain_layer(const ExplainFlags& flags, const Case& input, const Strategy& strategy,
                   LayerId layer) {
  const Explanation explanation = explain(input, flags.space, strategy, layer);
  ExplainedLayer explained{strategy, layer, explanation};
  if (const auto other = explanation.best_other()) {
    const Contender own{strategy, explanation.step, explanation.work};
    const Contender best{with_choice(strategy, explanation, *other),
                         explanation.choices[*other].step, explanation.work};
    const BreakEvens found = break_evens(input, flags.input, own, {best});
    explained.turns = found.turns.front();
    explained.all_tried = found.all_tried;
  }
  if (flags.json) {
    nlohmann::ordered_json json = explained_json(input, explained);
    add_uncosted(input.graph, json);
    return print_json(json);
  }
  print_header(input);
  print("{}", explained_text(input, explained, flags.all));
}

void explain_strategy(const ExplainFlags& flags, const Case& input, const Strategy& strategy) {
  const Story story = tell(input, flags.input, flags.space, strategy);
  if (flags.json) {
    nlohmann::ordered_json json = story_json(input, story);
    add_uncosted(input.graph, json);
    return print_json(json);
  }
  print_header(input);
  print("{}", story_text(input, story));
}

void run(ExplainFlags& flags) {
  if (flags.all && flags.layer.empty()) {
    throw InputError("--all is of the configs of a layer; allowed: with --layer");
  }
  const Case input = load(flags.input);
  const LayerId layer = flags.layer.empty() ? LayerId() : find_layer(input.graph, flags.layer);
  const Strategy strategy = load_strategy(flags.strategy, input, flags.space);
  if (layer.valid()) return explain_layer(flags, input, strategy, layer);
  explain_strategy(flags, input, strategy);
}

}  // namespace

void add_explain_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "explain",
      "explain a strategy's step, or the cut of a layer: what is hidden, what is exposed, and what "
      "would have to be true for another to win");
  auto flags = std::make_shared<ExplainFlags>();
  add_model_and_cluster(*command, flags->input);
  add_setting(*command, "strategy", flags->strategy)->capture_default_str();
  command->add_option(
      "--layer", flags->layer,
      "every config of this layer (strata show), its step, its costs and its regret; "
      "without it, the story of the whole strategy");
  command->add_flag("--all", flags->all, "list every config of the layer, not only the best 16")
      ->disable_flag_override();
  add_search_settings(*command, flags->space);
  add_case_options(*command, flags->input);
  command->add_flag("--json", flags->json, "print JSON")->disable_flag_override();
  command->callback([flags] { run(*flags); });
}

}  // namespace strata
