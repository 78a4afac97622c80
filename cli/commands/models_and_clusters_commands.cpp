// `strata models` and `strata clusters`: what can be named.

#include <memory>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "sim/cluster/presets.h"
#include "sim/graph/zoo.h"
#include "sim/json/catalogue_json.h"
#include "sim/text/units.h"

namespace strata {
namespace {

void list_models(bool json) {
  if (json) return print_json(models_json());
  TextTable table;
  for (const ZooEntry& entry : zoo()) {
    const Graph graph = build_zoo(entry.name, 1);
    std::int64_t macs_sum = 0;
    for (std::size_t i = 0; i < graph.size(); ++i) macs_sum += macs(graph, LayerId(i));
    table.add({{"model", std::string(entry.name), TextTable::left},
               {"layers", std::to_string(graph.size())},
               {"parameters", format_count(graph.parameters())},
               {"MMAC/sample", fmt::format("{:.1f}", static_cast<double>(macs_sum) * 1e-6)},
               {"description", std::string(entry.description), TextTable::left}});
  }
  print("{}\nA file in .toml or .onnx describes a network of your own.\n", table.print());
}

void list_clusters(bool json) {
  if (json) return print_json(clusters_json());
  TextTable table;
  for (const Preset& preset : presets()) {
    table.add({{"cluster", preset.pattern, TextTable::left},
               {"for example", preset.example, TextTable::left},
               {"description", preset.description, TextTable::left}});
  }
  print("{}\nA file in .toml describes a cluster of your own.\n", table.print());
}

}  // namespace

void add_models_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("models", "list the networks that come with Strata");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print JSON")->disable_flag_override();
  command->callback([json] { list_models(*json); });
}

void add_clusters_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("clusters", "list the clusters that come with Strata");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print JSON")->disable_flag_override();
  command->callback([json] { list_clusters(*json); });
}

}  // namespace strata
