// `strata explain MODEL --cluster C --strategy S --layer L`: every config of a layer, what it costs
// and what insisting on it would cost.

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <variant>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/options/case_options.h"
#include "cli/options/setting_options.h"
#include "cli/output/case_header.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "sim/base/error.h"
#include "sim/strategy/config_text.h"
#include "sim/strategy/strategy_file.h"
#include "sim/study/search/explain.h"
#include "sim/study/search/solve.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::size_t kListed = 16, kNamed = 8;

struct ExplainFlags {
  CaseRequest input;
  SearchOptions space;
  std::string strategy, layer;
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

nlohmann::ordered_json choice_json(const Case& input, const ChoiceCosts& costs, bool chosen) {
  nlohmann::ordered_json json{{"config", degrees_json(costs.config.degrees)},
                              {"compute_seconds", costs.compute.value},
                              {"transfer_in_seconds", costs.transfer_in.value},
                              {"transfer_out_seconds", costs.transfer_out.value},
                              {"sync_seconds", costs.sync.value},
                              {"regret_seconds", costs.regret.value},
                              {"chosen", chosen}};
  for (DeviceId device : costs.config.devices)
    json["devices"].push_back(input.cluster[device].name);
  json["binding_layer"] = nullptr;
  if (costs.binding.valid()) json["binding_layer"] = input.graph[costs.binding].name;
  json["binding_seconds"] = costs.binding_transfer.value;
  return json;
}

void explain_json(const Case& input, const Strategy& strategy, LayerId layer,
                  const Explanation& explanation) {
  nlohmann::ordered_json json{{"model", input.graph.name()},
                              {"cluster", input.cluster.name()},
                              {"strategy", strategy.name()},
                              {"layer", input.graph[layer].name},
                              {"optimum_seconds", explanation.optimum.value}};
  for (LayerId id : explanation.layers) json["layers"].push_back(input.graph[id].name);
  json["config"] = degrees_json(strategy[layer].degrees);
  for (std::size_t i = 0; i < explanation.choices.size(); ++i) {
    json["configs"].push_back(choice_json(input, explanation.choices[i], explanation.chosen == i));
  }
  print_json(json);
}

std::string binding_text(const Graph& graph, const ChoiceCosts& costs) {
  if (!costs.binding.valid()) return "";
  return fmt::format("{} ({})", graph[costs.binding].name, format_seconds(costs.binding_transfer));
}

void print_choices(const Case& input, const Explanation& explanation, std::size_t most) {
  const auto& choices = explanation.choices;
  std::vector<std::size_t> order(choices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return choices[a].regret < choices[b].regret;
  });
  TextTable table;
  std::size_t left_out = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const ChoiceCosts& c = choices[order[rank]];
    const bool chosen = explanation.chosen == order[rank];
    if (rank >= most && !chosen) {
      ++left_out;
      continue;
    }
    table.add({{"config", config_text(c.config), TextTable::left},
               {"compute", format_seconds(c.compute)},
               {"transfer in", format_seconds(c.transfer_in)},
               {"transfer out", format_seconds(c.transfer_out)},
               {"sync", format_seconds(c.sync)},
               {"sum", format_seconds(c.total())},
               {"regret", format_seconds(c.regret)},
               {"largest transfer", binding_text(input.graph, c), TextTable::left},
               {"", chosen ? "chosen" : "", TextTable::left}});
  }
  print("{}", table.print());
  if (left_out > 0)
    print("... and {} more of higher regret (--all or --json has them)\n", left_out);
}

std::string layer_names(const Graph& graph, const std::vector<LayerId>& layers) {
  std::string names;
  for (LayerId id : layers) names += (names.empty() ? "" : ", ") + graph[id].name;
  return names;
}

void print_summary(const Case& input, const Strategy& strategy, LayerId layer,
                   const Explanation& explanation) {
  print(
      "\nCompute, transfers and sync are those of Eq. 1, with the neighbours cut as in {}. Regret "
      "is "
      "how much\nslower the best strategy with this config is than the optimum under Eq. 1, which "
      "takes {}.\n",
      strategy.name(), format_seconds(explanation.optimum));
  if (explanation.chosen) return;
  print("{} cuts {} as {}, which the search does not consider.\n", strategy.name(),
        input.graph[layer].name, config_text(strategy[layer]));
}

void run(ExplainFlags& flags) {
  const Case input = load(flags.input);
  const LayerId layer = find_layer(input.graph, flags.layer);
  const Strategy strategy = load_strategy(flags.strategy, input, flags.space);
  const Explanation explanation = explain(input, flags.space, strategy, layer);
  if (flags.json) return explain_json(input, strategy, layer, explanation);
  print_header(input);
  print("{} under {}, with the layers that share its config: {}\n\n", input.graph[layer].name,
        strategy.name(), layer_names(input.graph, explanation.layers));
  print_choices(input, explanation, flags.all ? explanation.choices.size() : kListed);
  print_summary(input, strategy, layer, explanation);
}

}  // namespace

void add_explain_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "explain", "explain the cut of a layer: every config, its costs, its regret");
  auto flags = std::make_shared<ExplainFlags>();
  add_model_and_cluster(*command, flags->input);
  add_setting(*command, "strategy", flags->strategy)->required();
  command->add_option("--layer", flags->layer, "the layer's name (strata show)")->required();
  command->add_flag("--all", flags->all, "list every config, not only the best 16")
      ->disable_flag_override();
  add_search_settings(*command, flags->space);
  add_case_options(*command, flags->input);
  command->add_flag("--json", flags->json, "print JSON")->disable_flag_override();
  command->callback([flags] { run(*flags); });
}

}  // namespace strata
