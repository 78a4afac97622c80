#pragma once

// Clusters from what tools say about real machines: NCCL's topology XML, `nvidia-smi topo -m`,
// hwloc's XML, SLURM's topology.conf. docs/clusters.md, "From a real machine", says what of each is
// read and which figures are nominal. Thread-safe.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/importers/topology/machine.h"

namespace strata {

enum class TopologyFormat : std::uint8_t { nccl, smi, hwloc, slurm };

/// "nccl, smi, hwloc, slurm".
std::string_view topology_formats();
std::string_view name(TopologyFormat format);
std::optional<TopologyFormat> find_topology_format(std::string_view name);

struct TopologySource {
  std::string file;  ///< for errors; "this machine" where it is none
  std::string text;
};

struct ImportOptions {
  std::string name;                      ///< of the cluster
  std::optional<TopologyFormat> format;  ///< else by what the text begins with
  MachineOptions machine;
  std::int64_t hosts = 1;                ///< so many equal ones of one source
  std::string node;                      ///< SLURM: a CLUSTER that describes each host
  std::optional<BytesPerSecond> uplink;  ///< SLURM: between switches
};

struct ImportedCluster {
  Cluster cluster;
  std::vector<std::string> notes;  ///< for people: what was assumed or left out
};

/// Each source is a host, but for SLURM's, which is all of them. Throws InputError "FILE:LINE:
/// ...", also for an option that the format of a source does not read.
ImportedCluster import_cluster(std::span<const TopologySource> sources,
                               const ImportOptions& options);

}  // namespace strata
