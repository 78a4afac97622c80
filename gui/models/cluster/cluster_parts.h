#pragma once

// What of a cluster is drawn as one: vertices joined without a limit, and the host that each
// belongs to. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"

namespace strata::gui {

struct ClusterParts {
  std::vector<std::uint32_t> part_of;             ///< by vertex
  std::vector<std::vector<std::uint32_t>> parts;  ///< vertices, ascending; by least vertex
  std::vector<std::string> hosts;                 ///< in order of appearance
  std::vector<std::optional<std::size_t>> host;   ///< by part

  bool is_device(std::size_t part, const Cluster& cluster) const {
    return parts[part].front() < cluster.device_count();
  }
};

/// The name of a thing whose two directions are two switches, without the direction: "host0/nic" of
/// "host0/nic-in" and "host0/nic-out".
std::string both_ways(const std::string& name);

ClusterParts parts_of(const Cluster& cluster);

}  // namespace strata::gui
