// `strata import cluster SOURCE...`: a cluster file from what tools say of a real machine.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/commands/imports.h"
#include "cli/options/usage.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "sim/base/error.h"
#include "sim/cluster/builder.h"
#include "sim/cluster/cluster_file.h"
#include "sim/cluster/gpu_cluster.h"
#include "sim/importers/topology/import.h"
#include "sim/importers/topology/this_machine.h"
#include "sim/json/catalogue_json.h"
#include "sim/text/diagnostics.h"
#include "sim/text/file.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::int64_t kSourceLimit = std::int64_t{64} << 20;
constexpr const char* kStandardInput = "-";

struct ImportFlags {
  std::vector<std::string> sources;
  std::string output, name, format, kind, node;
  std::string bandwidth, latency, uplink, nvlink, pcie, socket;
  std::int64_t hosts = 1;
  bool here = false, json = false;
};

template <class Parse>
auto parsed(const std::string& option, const std::string& text, const Parse& parse)
    -> std::optional<decltype(parse(text))> {
  if (text.empty()) return std::nullopt;
  try {
    return parse(text);
  } catch (InputError& error) {
    error.add_context(option);
    throw;
  }
}

std::optional<BytesPerSecond> rate(const std::string& option, const std::string& text) {
  return parsed(option, text, parse_bandwidth);
}

std::optional<TopologyFormat> parse_format(const std::string& name) {
  if (name.empty()) return std::nullopt;
  const auto format = find_topology_format(name);
  if (format) return format;
  throw InputError(
      fmt::format("--format: unknown format '{}'; allowed: {}", name, topology_formats()));
}

// The driver's word where hwloc has none; nothing where there is no GPU to ask for.
std::string kind_of_own_gpu(const Runner& runner) {
  try {
    const std::string text = runner.description("cuda:0");
    return gpu_kind(text.substr(0, text.find(',')));
  } catch (const EnvironmentError&) {
    return "";
  }
}

ImportOptions options_of(const ImportFlags& flags) {
  ImportOptions options;
  options.format = parse_format(flags.format);
  options.machine.kind = flags.kind;
  options.machine.nvlink = rate("--nvlink", flags.nvlink);
  options.machine.pcie = rate("--pcie", flags.pcie);
  options.machine.socket = rate("--socket", flags.socket);
  options.machine.network = rate("--bandwidth", flags.bandwidth);
  options.machine.latency = parsed("--latency", flags.latency, parse_seconds);
  options.uplink = rate("--uplink", flags.uplink);
  options.hosts = flags.hosts;
  options.node = flags.node;
  return options;
}

void check_together(const ImportFlags& flags) {
  if (flags.here == !flags.sources.empty()) {
    throw InputError(fmt::format("import cluster: {}; allowed: files, or --here for this machine",
                                 flags.here ? "--here and files at once" : "no source is given"));
  }
  if (flags.sources.size() > 1 && flags.hosts > 1) {
    throw InputError("--hosts: each of several files is one host; allowed: with a single file");
  }
}

std::vector<TopologySource> read_sources(const ImportFlags& flags) {
  if (flags.here) return {{"this machine", describe_this_machine()}};
  std::vector<TopologySource> sources;
  for (const std::string& file : flags.sources) {
    const bool standard = file == kStandardInput;
    sources.push_back({standard ? "standard input" : file,
                       read_file(standard ? "/dev/stdin" : file, kSourceLimit)});
  }
  return sources;
}

std::string name_of(const ImportFlags& flags) {
  if (!is_utf8(flags.name)) throw InputError("--name: it is not UTF-8; allowed: UTF-8");
  if (!flags.name.empty()) return flags.name;
  const std::string& first = flags.here ? "this-machine" : flags.sources.front();
  const std::string file = first.substr(first.find_last_of('/') + 1);
  const std::string stem = file.substr(0, file.find_last_of('.'));
  if (!is_utf8(stem)) {
    throw InputError(
        "import cluster: the file's name is not UTF-8, so it can't be the cluster's; --name says "
        "another");
  }
  return stem.empty() || stem == kStandardInput ? "imported" : stem;
}

/// A line of a TOML file that is for people; what a comment can't hold is a question mark there.
std::string comment(std::string line) {
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return "# " + line + "\n";
}

std::string file_text(const ImportedCluster& imported) {
  std::string text =
      comment("Made by strata import cluster. Figures that its source does not have are nominal,");
  text += comment("not measured: docs/clusters.md says where each comes from.");
  for (const std::string& note : imported.notes) text += comment(note);
  return text + print_cluster(imported.cluster);
}

void run(const ImportFlags& flags, const Runner& runner) {
  check_together(flags);
  check_outputs({flags.output}, flags.sources);
  ImportOptions options = options_of(flags);
  options.name = name_of(flags);
  if (flags.here) options.machine.kind_if_unknown = kind_of_own_gpu(runner);
  ImportedCluster imported = import_cluster(read_sources(flags), options);
  for (std::string& each : imported.notes) note(each = with_options(each));
  const std::string text = file_text(imported);
  if (!flags.output.empty()) write_file_whole(flags.output, text);
  if (flags.json) return print_json(imported_cluster_json(imported, flags.output));
  if (flags.output.empty()) write_output(text);
}

void add_quantities(CLI::App& command, ImportFlags& flags) {
  command.add_option("--bandwidth", flags.bandwidth,
                     "of each network card: \"100 Gb/s\" (default: what the source says)");
  command.add_option(
      "--latency", flags.latency,
      "of the network from host to host: \"1 us\" (default: the source's, or nominal)");
  command.add_option("--uplink", flags.uplink,
                     "slurm: from a switch to the one above it (default: as all hosts below it)");
  command.add_option("--nvlink", flags.nvlink,
                     "nccl, smi: of one NVLink (default: nominal, by the kind)");
  command.add_option("--pcie", flags.pcie,
                     "not for slurm: of each PCI link (default: the source's, or nominal)");
  command.add_option("--socket", flags.socket,
                     "not for slurm: between two processors (default: nominal)");
}

void add_cluster(CLI::App& import, const Runner& runner) {
  CLI::App* command = import.add_subcommand("cluster", "write a cluster file of a real machine");
  auto flags = std::make_shared<ImportFlags>();
  command->add_option("SOURCE", flags->sources,
                      "one for each host: NCCL's topology XML, the output of nvidia-smi topo -m, "
                      "hwloc's XML; or SLURM's topology.conf; - is standard input");
  command->add_flag("--here", flags->here, "this machine")->disable_flag_override();
  command->add_option("-o,--output", flags->output, "write FILE (default: standard output)");
  command->add_option("--name", flags->name, "the cluster's name (default: the file's)");
  command->add_option("--format", flags->format,
                      fmt::format("{} (default: recognised from the source)", topology_formats()));
  command->add_option("--kind", flags->kind,
                      "not for slurm: the kind of the GPUs, as v100 or h200");
  add_whole_number(*command, "--hosts", flags->hosts, {1, kDeviceLimit},
                   "not for slurm: how many hosts like the one source (default 1)");
  command->add_option("--node", flags->node, "slurm: the cluster that describes each host");
  add_quantities(*command, *flags);
  command->add_flag("--json", flags->json, "print what was found as JSON")->disable_flag_override();
  command->callback([flags, &runner] { run(*flags, runner); });
}

}  // namespace

void add_import_command(CLI::App& app, const Runner& runner) {
  CLI::App* command = app.add_subcommand("import", "make Strata's files from those of other tools");
  command->require_subcommand(1);
  add_cluster(*command, runner);
  add_import_profile(*command);
}

}  // namespace strata
