// `strata show MODEL`: a network layer by layer, per sample.

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/options/case_options.h"
#include "cli/options/setting_options.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "sim/case/network.h"
#include "sim/graph/blocks.h"
#include "sim/json/catalogue_json.h"
#include "sim/text/units.h"

namespace strata {
namespace {

struct ShowOptions {
  CaseRequest request;
  bool json = false, all = false;
};

std::string shape_text(const Extents& e) {
  std::string text = fmt::format("{}", e[Dim::c]);
  bool inside = false;
  for (Dim dim : kSpatialDims) {
    inside = inside || e[dim] > 1;
    if (inside) text += fmt::format(" x {}", e[dim]);
  }
  return text;
}

std::string input_names(const Graph& graph, const Layer& layer) {
  std::string names;
  for (LayerId input : layer.inputs) {
    if (!names.empty()) names += ", ";
    names += graph[input].name;
  }
  return names;
}

std::int64_t total_macs(const Graph& graph) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) sum += macs(graph, LayerId(i));
  return sum;
}

void add_layer(TextTable& table, const Graph& graph, LayerId id) {
  const Layer& layer = graph[id];
  table.add({{"layer", layer.name, TextTable::left},
             {"op", title(layer.op), TextTable::left},
             {"output (c [x d] x h x w)", shape_text(layer.output)},
             {"parameters", format_count(layer.held().total())},
             {"MACs", format_count(macs(graph, id))},
             {"inputs", input_names(graph, layer), TextTable::left}});
}

// For all times but the first.
void add_repeats(TextTable& table, const Graph& graph, const Repeat& block) {
  std::int64_t parameters = 0, work = 0;
  for (std::size_t i = block.first + block.length; i < block.end(); ++i) {
    parameters += graph[LayerId(i)].held().total();
    work += macs(graph, LayerId(i));
  }
  table.add({{"layer", fmt::format("... {} more times", block.times - 1), TextTable::left},
             {"op", fmt::format("the {} above", block.length), TextTable::left},
             {"output (c [x d] x h x w)", ""},
             {"parameters", format_count(parameters)},
             {"MACs", format_count(work)},
             {"inputs", "to " + graph[LayerId(block.end() - 1)].name, TextTable::left}});
}

void show_table(const Graph& graph, bool all) {
  TextTable table;
  const std::vector<Repeat> blocks = all ? std::vector<Repeat>{} : repeated_blocks(graph);
  auto block = blocks.begin();
  for (std::size_t i = 0; i < graph.size(); ++i) {
    add_layer(table, graph, LayerId(i));
    if (block == blocks.end() || i + 1 != block->first + block->length) continue;
    add_repeats(table, graph, *block);
    i = block++->end() - 1;
  }
  const std::int64_t all_of_them = graph.parameters(), active = graph.active_parameters();
  const std::string of_token =
      active < all_of_them ? fmt::format(" ({} of each token)", format_count(active)) : "";
  const std::int64_t trained = graph.trained_parameters();
  const std::string of_training =
      trained < all_of_them ? fmt::format(" ({} are trained)", format_count(trained)) : "";
  print("{}\n{}: {} layers, {} parameters{}{}, {} MACs a sample\n", table.print(), graph.name(),
        graph.size(), format_count(all_of_them), of_token, of_training,
        format_count(total_macs(graph)));
}

}  // namespace

void add_show_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("show", "show a network layer by layer, per sample");
  auto options = std::make_shared<ShowOptions>();
  add_model(*command, options->request);
  add_setting(*command, "allow_unsupported", options->request.unsupported);
  add_setting(*command, "train", options->request.training.train);
  command
      ->add_flag("--all", options->all,
                 "list every layer, of blocks that repeat those of each time, too")
      ->disable_flag_override();
  command->add_flag("--json", options->json, "print JSON")->disable_flag_override();
  command->callback([options] {
    const Network network = load_network(options->request, 1);
    options->json ? print_json(network_json(network.graph))
                  : show_table(network.graph, options->all);
    for (const std::string& each : network.notes) note(each);
  });
}

}  // namespace strata
