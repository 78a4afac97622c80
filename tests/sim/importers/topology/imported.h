#pragma once

// Clusters imported from the files of this folder, and their routes as text.

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/importers/topology/import.h"
#include "sim/text/file.h"
#include "tests/paths.h"

namespace strata {

inline std::string topology_path(const std::string& name) {
  return source_path("tests/sim/importers/topology/") + name;
}

inline ImportOptions of_kind(const std::string& kind) {
  ImportOptions options;
  options.name = "imported";
  options.machine.kind = kind;
  return options;
}

/// A file of this folder; errors call it "FILE".
inline ImportedCluster import_file(const std::string& file, const ImportOptions& options) {
  const std::vector<TopologySource> sources = {{file, read_file(topology_path(file))}};
  return import_cluster(sources, options);
}

inline ImportedCluster import_text(const std::string& text, const ImportOptions& options) {
  const std::vector<TopologySource> sources = {{"a", text}};
  return import_cluster(sources, options);
}

/// "gpu0 nvswitch gpu1: 240 GB/s, 0.6 us": what lies between two devices, the slowest link of it
/// and the latency of the whole.
inline std::string way(const Cluster& cluster, const std::string& from, const std::string& to) {
  std::string text = from;
  double slowest = 1e18;
  const DeviceId a = cluster.find_device(from), b = cluster.find_device(to);
  for (const LinkId id : cluster.route(a, b)) {
    text += " " + cluster.vertex_name(cluster[id].to);
    slowest = std::min(slowest, cluster[id].bandwidth.value);
  }
  return fmt::format("{}: {:.4g} GB/s, {:.4g} us", text, slowest * 1e-9,
                     cluster.latency(a, b).value * 1e6);
}

}  // namespace strata
