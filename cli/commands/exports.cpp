#include "cli/commands/exports.h"

#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "sim/case/network.h"
#include "sim/exporters/chakra/chakra.h"
#include "sim/exporters/dot.h"
#include "sim/exporters/dtensor/dtensor.h"
#include "sim/exporters/trace/trace.h"
#include "sim/json/export_json.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"
#include "sim/text/file.h"
#include "sim/text/folder.h"

namespace strata {
namespace {

/// A case, cut by its strategy.
struct CutCase {
  Case input;
  Strategy strategy;
};

CutCase load_cut(ExportFlags& flags) {
  Case input = load(flags.input);
  Strategy strategy = load_strategy(flags.strategy, input);
  return {std::move(input), std::move(strategy)};
}

void check_file(const ExportFlags& flags) {
  check_outputs({flags.output}, files_read(flags.input, {flags.strategy}));
}

std::string called(const CutCase& cut) {
  return fmt::format("{} on {}, cut as {}", cut.input.graph.name(), cut.input.cluster.name(),
                     cut.strategy.name());
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

Prediction simulated(const CutCase& cut, const ExportFlags& flags) {
  PredictOptions options;
  options.steps = flags.steps;
  options.record_link_rates = !flags.per_rank;
  options.critical_path = false;
  return predict(cut.input, cut.strategy, options);
}

void write_graph(const ExportFlags& flags, const std::string& dot,
                 const nlohmann::ordered_json& document, const std::string& what) {
  write_file_whole(flags.output, dot);
  flags.json ? print_json(document) : print("{}: {}\n", flags.output, what);
}

void export_network(const ExportFlags& flags) {
  const CaseRequest& request = flags.input;
  const Network network = load_network(request.model, 1, FileWeights::skip, request.unsupported);
  for (const std::string& each : network.notes) note(each);
  write_graph(flags, print_dot(network.graph), network_export_json(network.graph, flags.output),
              fmt::format("the {} layers of {}", network.graph.size(), network.graph.name()));
}

}  // namespace

void export_trace(ExportFlags& flags) {
  flags.per_rank ? check_can_write_folder(flags.output) : check_file(flags);
  const CutCase cut = load_cut(flags);
  const Prediction p = simulated(cut, flags);
  const auto& [graph, cluster] = std::tie(cut.input.graph, cut.input.cluster);
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
    return print_json(trace_export_json(cut.input, cut.strategy, p.timeline, flags.steps, written));
  }
  print("{}: {} steps of {}, {}\n", flags.output, flags.steps, called(cut),
        flags.per_rank ? "a trace a device" : "one trace of all devices");
}

void export_chakra(ExportFlags& flags) {
  check_can_write_folder(flags.output);
  const CutCase cut = load_cut(flags);
  const Prediction p = simulated(cut, flags);
  ChakraTraces traces = print_chakra(cut.input.graph, cut.input.cluster, p.plan, p.timeline);
  const std::vector<NamedContent> files = by_rank("trace", "et", std::move(traces.files));
  write_folder_whole(flags.output, files);
  if (traces.left_out > 0) {
    warn(fmt::format("{} waits of merged transfers are missing in the traces", traces.left_out));
  }
  if (flags.json) {
    return print_json(chakra_export_json(cut.input, cut.strategy, p.timeline, flags.steps, traces,
                                         paths_of(flags.output, files)));
  }
  print("{}: {} of {}, a trace a device, {} nodes\n", flags.output,
        flags.steps == 1 ? "one step" : fmt::format("{} steps", flags.steps), called(cut),
        traces.nodes);
}

void export_graph(ExportFlags& flags) {
  check_file(flags);
  if (flags.strategy.empty()) return export_network(flags);
  const CutCase cut = load_cut(flags);
  const Prediction p = simulated(cut, flags);
  write_graph(flags, print_dot(cut.input.graph, cut.input.cluster, cut.strategy, p.plan),
              graph_export_json(cut.input, cut.strategy, flags.output), called(cut));
}

void export_dtensor(ExportFlags& flags) {
  check_file(flags);
  const CutCase cut = load_cut(flags);
  const auto& [graph, cluster] = std::tie(cut.input.graph, cut.input.cluster);
  const DTensorLayout layout = dtensor_layout(graph, cut.strategy, cluster.device_count());
  write_file_whole(flags.output, print_dtensor(graph, cluster, cut.strategy, layout));
  if (flags.json) {
    return print_json(dtensor_export_json(cut.input, cut.strategy, layout, flags.output));
  }
  const std::string mesh = fmt::format("{}", fmt::join(layout.mesh, " x "));
  print("{}: {} on a mesh of {}\n", flags.output, called(cut), mesh);
  const std::vector<std::string> lines = limit_lines(graph, layout);
  if (!lines.empty()) print("What DTensor cannot express, or does differently:\n");
  for (const std::string& line : lines) print("  {}\n", line);
}

}  // namespace strata
