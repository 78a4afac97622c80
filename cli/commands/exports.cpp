#include "cli/commands/exports.h"

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "sim/ask/ask.h"
#include "sim/case/network.h"
#include "sim/exporters/chakra/chakra.h"
#include "sim/exporters/dot.h"
#include "sim/exporters/dtensor/dtensor.h"
#include "sim/exporters/trace/trace.h"
#include "sim/json/export_json.h"
#include "sim/search/asked_strategy.h"
#include "sim/text/file.h"
#include "sim/text/folder.h"

namespace strata {
namespace {

void check_file(const ExportFlags& flags) {
  check_outputs({flags.output}, files_read(flags.request.input, {flags.request.strategy}));
}

std::string called(const Case& input, const Strategy& strategy) {
  return fmt::format("{} on {}, cut as {}", input.graph.name(), input.cluster.name(),
                     strategy.name());
}

// "rank.0.json", "rank.1.json" ...
std::vector<NamedContent> by_rank(const std::string& name, const std::string& ending,
                                  std::vector<std::string> contents) {
  std::vector<NamedContent> files;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    files.emplace_back(fmt::format("{}.{}.{}", name, i, ending), std::move(contents[i]));
  }
  return files;
}

std::vector<std::string> paths_of(const std::string& folder,
                                  const std::vector<NamedContent>& files) {
  std::vector<std::string> paths;
  paths.reserve(files.size());
  for (const auto& [name, content] : files) paths.push_back(folder + "/" + name);
  return paths;
}

/// What every device does, and in which case.
struct Simulation {
  std::shared_ptr<const Case> input;
  Prediction prediction;

  const Strategy& strategy() const { return prediction.strategy; }
};

Simulation simulated(const ExportFlags& flags, bool link_rates = false) {
  PredictRequest request = flags.request;
  request.detail = Detail::timelines;
  request.devices = Simulated::all_devices;
  request.however_large = true;
  request.link_rates = link_rates;
  AskOptions options;
  options.warn = warn;
  Answer answer = ask(request, options);
  auto& predicted = std::get<std::vector<Predicted>>(answer.found);
  return {std::move(answer.input), std::move(predicted.front().prediction)};
}

void write_graph(const ExportFlags& flags, const std::string& dot,
                 const nlohmann::ordered_json& document, const std::string& what) {
  write_file_whole(flags.output, dot);
  flags.json ? print_json(document) : print("{}: {}\n", flags.output, what);
}

void export_network(const ExportFlags& flags) {
  const CaseRequest& request = flags.request.input;
  const Network network = load_network(request, 1);
  for (const std::string& each : network.notes) note(each);
  write_graph(flags, print_dot(network.graph), network_export_json(network.graph, flags.output),
              fmt::format("the {} layers of {}", network.graph.size(), network.graph.name()));
}

}  // namespace

void export_trace(const ExportFlags& flags) {
  flags.per_rank ? check_can_write_folder(flags.output) : check_file(flags);
  const Simulation made = simulated(flags, !flags.per_rank);
  const Case& input = *made.input;
  const Prediction& p = made.prediction;
  const auto& [graph, cluster] = std::tie(input.graph, input.cluster);
  std::vector<std::string> written = {flags.output};
  if (flags.per_rank) {
    const std::vector<NamedContent> files =
        by_rank("rank", "json", print_rank_traces(graph, cluster, p.plan, p.timeline));
    write_folder_whole(flags.output, files);
    written = paths_of(flags.output, files);
  } else {
    write_file_whole(flags.output, print_trace(graph, cluster, p.plan, p.timeline));
  }
  if (flags.json) {
    return print_json(
        trace_export_json(input, made.strategy(), p.timeline, flags.request.steps, written));
  }
  print("{}: {} steps of {}, {}\n", flags.output, flags.request.steps,
        called(input, made.strategy()),
        flags.per_rank ? "a trace a device" : "one trace of all devices");
}

void export_chakra(const ExportFlags& flags) {
  check_can_write_folder(flags.output);
  const Simulation made = simulated(flags);
  const Case& input = *made.input;
  const Prediction& p = made.prediction;
  ChakraTraces traces = print_chakra(input.graph, input.cluster, p.plan, p.timeline);
  const std::vector<NamedContent> files = by_rank("trace", "et", std::move(traces.files));
  write_folder_whole(flags.output, files);
  if (traces.left_out > 0) {
    warn(fmt::format("{} waits of merged transfers are missing in the traces", traces.left_out));
  }
  if (flags.json) {
    return print_json(chakra_export_json(input, made.strategy(), p.timeline, flags.request.steps,
                                         traces, paths_of(flags.output, files)));
  }
  print("{}: {} of {}, a trace a device, {} nodes\n", flags.output,
        flags.request.steps == 1 ? "one step" : fmt::format("{} steps", flags.request.steps),
        called(input, made.strategy()), traces.nodes);
}

void export_graph(const ExportFlags& flags) {
  check_file(flags);
  if (flags.request.strategy.empty()) return export_network(flags);
  const Simulation made = simulated(flags);
  const Case& input = *made.input;
  const Strategy& strategy = made.strategy();
  write_graph(flags, print_dot(input.graph, input.cluster, strategy, made.prediction.plan),
              graph_export_json(input, strategy, flags.output), called(input, strategy));
}

void export_dtensor(const ExportFlags& flags) {
  check_file(flags);
  const Case input = load(flags.request.input);
  const Strategy strategy =
      load_strategy(flags.request.strategy, input, flags.request.search.space);
  const auto& [graph, cluster] = std::tie(input.graph, input.cluster);
  const DTensorLayout layout = dtensor_layout(graph, strategy, cluster.device_count());
  write_file_whole(flags.output, print_dtensor(graph, cluster, strategy, layout));
  if (flags.json) {
    return print_json(dtensor_export_json(input, strategy, layout, flags.output));
  }
  const std::string mesh = fmt::format("{}", fmt::join(layout.mesh, " x "));
  print("{}: {} on a mesh of {}\n", flags.output, called(input, strategy), mesh);
  const std::vector<std::string> lines = limit_lines(graph, layout);
  if (!lines.empty()) print("What DTensor cannot express, or does differently:\n");
  for (const std::string& line : lines) print("  {}\n", line);
}

}  // namespace strata
