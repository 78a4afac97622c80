// `strata export WHAT MODEL -o PATH`: results as the files of other tools.

#include <memory>
#include <string>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/commands/exports.h"
#include "cli/options/setting_options.h"
#include "sim/case/case_settings.h"

namespace strata {
namespace {

std::shared_ptr<ExportFlags> add_export(CLI::App& command, const std::string& output) {
  auto flags = std::make_shared<ExportFlags>();
  add_model_and_cluster(command, flags->request.input);
  add_setting(command, "strategy", flags->request.strategy)->required();
  add_case_options(command, flags->request.input);
  command.add_option("-o,--output", flags->output, output)->required();
  command.add_flag("--json", flags->json, "print JSON")->disable_flag_override();
  return flags;
}

void add_steps(CLI::App& command, ExportFlags& flags, std::size_t usual) {
  flags.request.steps = usual;
  add_setting(command, "steps", flags.request.steps)
      ->description(fmt::format("how many steps to simulate (default {})", usual));
}

void add_trace(CLI::App& parent) {
  CLI::App* command = parent.add_subcommand(
      "trace", "the simulated steps as trace-event JSON, for Perfetto and HTA");
  const auto flags = add_export(*command, "the file, or with --per-rank the folder, to write");
  add_steps(*command, *flags, 4);
  command
      ->add_flag("--per-rank", flags->per_rank,
                 "a file a device with its rank, as PyTorch's profiler writes them: what HTA reads")
      ->disable_flag_override();
  command->callback([flags] { export_trace(*flags); });
}

// Both or neither; what says how a step runs says nothing of a network alone.
void make_cut_optional(CLI::App& command) {
  CLI::Option* cluster = command.get_option("--cluster")->required(false);
  CLI::Option* strategy = command.get_option("--strategy")->required(false)->needs(cluster);
  cluster->needs(strategy);
  command.get_option("--set")->needs(cluster);
  const CaseRequest any;
  each_setting(any, [&](std::string_view key, const auto& /*value*/) {
    const bool of_network = key == "model" || key == "dim" || key == "allow_unsupported";
    if (!of_network && key != "cluster") command.get_option(option_name(key))->needs(cluster);
  });
}

void add_graph(CLI::App& parent) {
  CLI::App* command = parent.add_subcommand(
      "graph", "the network, with the cuts and transfers of a strategy if given, for Graphviz");
  const auto flags = add_export(*command, "the .dot file to write");
  make_cut_optional(*command);
  flags->request.steps = 1;
  command->callback([flags] { export_graph(*flags); });
}

void add_chakra(CLI::App& parent) {
  CLI::App* command = parent.add_subcommand(
      "chakra", "the plan and its times as Chakra execution traces, a file a device");
  const auto flags = add_export(*command, "the folder to write: trace.0.et, trace.1.et ...");
  add_steps(*command, *flags, 1);
  command->callback([flags] { export_chakra(*flags); });
}

void add_dtensor(CLI::App& parent) {
  CLI::App* command = parent.add_subcommand(
      "dtensor", "the strategy as a Python file of PyTorch DTensor placements");
  const auto flags = add_export(*command, "the .py file to write");
  command->callback([flags] { export_dtensor(*flags); });
}

}  // namespace

void add_export_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("export", "write results in the file formats of other tools");
  command->require_subcommand(1);
  add_trace(*command);
  add_graph(*command);
  add_chakra(*command);
  add_dtensor(*command);
}

}  // namespace strata
