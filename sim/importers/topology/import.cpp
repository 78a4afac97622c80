#include "sim/importers/topology/import.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cluster/presets.h"
#include "sim/importers/topology/fabric.h"
#include "sim/importers/topology/host_topology.h"
#include "sim/importers/topology/machine_readers.h"
#include "sim/importers/topology/slurm.h"
#include "sim/importers/topology/smi.h"
#include "sim/importers/topology/unread_options.h"
#include "sim/text/diagnostics.h"
#include "sim/text/split.h"

namespace strata {
namespace {

constexpr std::pair<std::string_view, TopologyFormat> kFormats[] = {
    {"nccl", TopologyFormat::nccl},
    {"smi", TopologyFormat::smi},
    {"hwloc", TopologyFormat::hwloc},
    {"slurm", TopologyFormat::slurm}};

[[noreturn]] void refuse(const TopologySource& source) {
  fail({source.file, 1},
       "this is no topology that is known; allowed: NCCL's XML, the matrix of nvidia-smi topo -m, "
       "hwloc's XML, SLURM's topology.conf");
}

TopologyFormat format_of_root(const TopologySource& source, const XmlElement& root) {
  if (root.name() == "system") return TopologyFormat::nccl;
  if (root.name() == "topology") return TopologyFormat::hwloc;
  refuse(source);
}

bool starts_with_key(std::string_view word, std::string_view key) {
  return word.size() > key.size() &&
         std::equal(key.begin(), key.end(), word.begin(), [](unsigned char a, unsigned char b) {
           return std::tolower(a) == std::tolower(b);
         });
}

TopologyFormat format_of_text(const TopologySource& source) {
  int number = 0;
  for (const std::string_view line : split(source.text, '\n')) {
    ++number;
    for (const std::string_view word : split_at_blanks(line.substr(0, line.find('#')))) {
      if (starts_with_key(word, "SwitchName=")) return TopologyFormat::slurm;
      if (starts_with_key(word, "BlockName=")) {
        fail({source.file, number},
             "a tree of blocks (topology/block); allowed: of switches (topology/tree)");
      }
      if (word.find("GPU0") != word.npos) return TopologyFormat::smi;
    }
  }
  refuse(source);
}

bool is_xml(const TopologySource& source) {
  const std::size_t first = source.text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  return first != std::string::npos && source.text[first] == '<';
}

// What a source was recognised as. XML that was parsed for that is kept to be read.
struct Recognised {
  TopologyFormat format;
  std::unique_ptr<XmlFile> xml;
};

Recognised recognise(const TopologySource& source, const ImportOptions& options) {
  if (options.format) return {*options.format, nullptr};
  if (!is_xml(source)) return {format_of_text(source), nullptr};
  auto xml = std::make_unique<XmlFile>(source.text, source.file);
  const TopologyFormat format = format_of_root(source, xml->root());
  return {format, std::move(xml)};
}

Machine read_xml(const TopologySource& source, const Recognised& as,
                 const MachineOptions& options) {
  if (!as.xml) {
    return read_xml(source, {as.format, std::make_unique<XmlFile>(source.text, source.file)},
                    options);
  }
  const XmlElement root = as.xml->root();
  const bool nccl = as.format == TopologyFormat::nccl;
  const std::string_view due = nccl ? "system" : "topology";
  if (root.name() != due) root.fail(fmt::format("<{}> is due here", due));
  return nccl ? read_nccl(root, options) : read_hwloc(root, options);
}

HostTopology read_host(const TopologySource& source, const Recognised& as,
                       const ImportOptions& options, std::vector<std::string>& notes) {
  const Machine machine =
      as.format == TopologyFormat::smi
          ? draw_machine(read_smi_matrix(source.text, source.file), options.machine)
          : read_xml(source, as, options.machine);
  const auto gpus = std::count_if(machine.parts.begin(), machine.parts.end(),
                                  [](const Part& part) { return part.kind == PartKind::gpu; });
  if (static_cast<std::size_t>(gpus) > kHostDeviceLimit) {
    throw InputError(
        fmt::format("{}: it has {} GPUs; allowed: {}", source.file, gpus, kHostDeviceLimit));
  }
  for (const std::string& note : machine.notes) {
    const std::string line = fmt::format("{}: {}", source.file, note);
    if (std::find(notes.begin(), notes.end(), line) == notes.end()) notes.push_back(line);
  }
  return topology_of(machine, source.file);
}

void need_network(const TopologySource& source, const ImportOptions& options,
                  HostTopology& topology) {
  if (!topology.ports.empty()) return;
  if (!options.machine.network) {
    throw InputError(fmt::format(
        "{}: no network card of known speed joins the hosts; `bandwidth` says how fast they are",
        source.file));
  }
  add_card(*options.machine.network, options.machine.latency, topology);
}

Fabric read_slurm_source(std::span<const TopologySource> sources, const ImportOptions& options) {
  if (sources.size() != 1) {
    throw InputError(
        fmt::format("{}: SLURM's topology.conf stands alone; allowed: one file", sources[1].file));
  }
  refuse_unread_options(sources[0].file, TopologyFormat::slurm, options);
  if (options.node.empty()) {
    throw InputError(
        fmt::format("{}: `node` must name the cluster that describes each host", sources[0].file));
  }
  return read_slurm(
      sources[0].text, sources[0].file,
      topology_of(load_cluster(options.node), options.machine.network, options.machine.latency),
      options.uplink);
}

// The first source is recognised already.
Fabric read_hosts(std::span<const TopologySource> sources, Recognised as,
                  const ImportOptions& options, std::vector<std::string>& notes) {
  Fabric fabric;
  for (const TopologySource& source : sources) {
    if (&source != &sources.front()) as = recognise(source, options);
    refuse_unread_options(source.file, as.format, options);
    if (as.format == TopologyFormat::slurm) {
      throw InputError(
          fmt::format("{}: SLURM's topology.conf stands alone; allowed: one file", source.file));
    }
    fabric.topologies.push_back(read_host(source, as, options, notes));
  }
  const std::size_t hosts =
      sources.size() == 1 ? static_cast<std::size_t>(options.hosts) : sources.size();
  for (std::size_t i = 0; hosts > 1 && i < sources.size(); ++i) {
    need_network(sources[i], options, fabric.topologies[i]);
  }
  for (std::size_t h = 0; h < hosts; ++h) {
    fabric.places.push_back(
        {fmt::format("host{}", h), sources.size() == 1 ? 0 : h, std::string(kNetwork)});
  }
  const bool joined =
      std::any_of(fabric.topologies.begin(), fabric.topologies.end(),
                  [](const HostTopology& topology) { return !topology.ports.empty(); });
  if (joined) fabric.switches.emplace_back(kNetwork);
  return fabric;
}

}  // namespace

std::string_view topology_formats() {
  return "nccl, smi, hwloc, slurm";
}

std::string_view name(TopologyFormat format) {
  return kFormats[static_cast<std::size_t>(format)].first;
}

std::optional<TopologyFormat> find_topology_format(std::string_view name) {
  for (const auto& [known, format] : kFormats) {
    if (known == name) return format;
  }
  return std::nullopt;
}

ImportedCluster import_cluster(std::span<const TopologySource> sources,
                               const ImportOptions& options) {
  for (const TopologySource& source : sources) check_utf8(source.text, source.file);
  std::vector<std::string> notes;
  Recognised first = recognise(sources.front(), options);
  const Fabric fabric = first.format == TopologyFormat::slurm
                            ? read_slurm_source(sources, options)
                            : read_hosts(sources, std::move(first), options, notes);
  return {join_hosts(options.name, fabric), std::move(notes)};
}

}  // namespace strata
