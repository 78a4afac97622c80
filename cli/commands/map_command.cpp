// `strata map MODEL --cluster C`: which of several strategies is the fastest over two numbers of
// the case, and where another takes over.

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands/commands.h"
#include "cli/commands/interrupt.h"
#include "cli/options/case_options.h"
#include "cli/options/setting_options.h"
#include "cli/output/case_header.h"
#include "cli/output/json.h"
#include "cli/output/map_output.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/json/map_json.h"
#include "sim/strategy/hybrid.h"
#include "sim/study/phase_map/phase_map.h"
#include "sim/text/file.h"

namespace strata {
namespace {

struct MapFlags {
  CaseRequest input;
  std::string x, y;
  std::string strategies = fmt::format("{}", fmt::join(kUsualMapStrategies, ","));
  std::string csv_file;
  unsigned threads = 0;
  bool json = false;
};

// The links that reach furthest, over the batch; other ones where an axis that is given is one of
// them.
PhaseMapRequest request_of(const MapFlags& flags, const Cluster& cluster) {
  const std::vector<MapAxis> usual = usual_axes(flags.input, cluster);
  PhaseMapRequest request{flags.input, {}, {}, split_strategies(flags.strategies), flags.threads};
  if (!flags.x.empty()) request.x = read_axis(flags.x, usual);
  request.y = flags.y.empty() ? usual_y(usual, request.x.key) : read_axis(flags.y, usual);
  if (flags.x.empty()) request.x = usual_x(usual, request.y.key);
  return request;
}

PhaseMap map_with_progress(const PhaseMapRequest& request) try {
  const InterruptFlag interrupt;
  ProgressLine line;
  const std::size_t cells = request.x.values.size() * request.y.values.size();
  std::size_t known = 0;
  return phase_map(request, interrupt.get(), [&](std::size_t, const MapCell&) {
    line.show("map", fmt::format("map: {} of {} cells", ++known, cells));
  });
} catch (const Cancelled&) {
  throw JobFailed("interrupted; there is no map");
}

void run(const MapFlags& flags) {
  check_outputs({flags.csv_file}, files_read(flags.input, split_strategies(flags.strategies)));
  const Case input = load(flags.input);
  const PhaseMapRequest request = request_of(flags, input.cluster);
  const PhaseMap map = map_with_progress(request);
  if (!flags.csv_file.empty()) write_file_whole(flags.csv_file, print_csv(table_of(map)));
  if (flags.json) return print_json(map_json(input.graph, map));
  print_header(input);
  print("{}", map_text(map));
}

}  // namespace

void add_map_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "map",
      "map which strategy is the fastest over two numbers: bandwidth, batch, hosts, devices");
  auto flags = std::make_shared<MapFlags>();
  add_model_and_cluster(*command, flags->input);
  const std::string of_axis =
      "KEY=VALUE,VALUE,... or KEY alone, for usual values: batch_per_device, batch, hosts, "
      "devices_per_host, or a key of --set, as link.inter.bandwidth=0.5x,1x,2x";
  command->add_option("--x", flags->x,
                      "across: " + of_axis + " (default the links between hosts, else in a host)");
  command->add_option("--y", flags->y, "down: the same (default the batch)");
  add_setting(*command, "strategy", flags->strategies)
      ->description(fmt::format(
          "what competes, with commas: data, model, owt, {}, eq1 (the least time under "
          "Eq. 1), optimal (the fastest simulated step that a search finds) or .json "
          "files; eq1 and optimal are searched for in every cell, whatever memory they need",
          kHybridForm))
      ->capture_default_str();
  command->add_option("--csv", flags->csv_file, "write every strategy of every cell");
  add_setting(*command, "threads", flags->threads);
  add_case_options(*command, flags->input);
  command->add_flag("--json", flags->json, "print JSON")->disable_flag_override();
  command->callback([flags] { run(*flags); });
}

}  // namespace strata
