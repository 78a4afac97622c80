#pragma once

// Cluster files: TOML, as docs/clusters.md describes it. What print_cluster writes is read back
// equal, except that it spells a [grid] out.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/cluster/cluster.h"

namespace strata {

/// What a preset's name says instead of its file ("p100-4x4").
struct GridSize {
  std::string name;
  std::int64_t domains = 1;  ///< hosts, or racks
  std::int64_t devices_per_domain = 1;
};

/// Throws InputError "FILE:LINE: ...", everything that is wrong, up to ten errors.
Cluster parse_cluster(std::string_view toml, const std::string& file,
                      const std::optional<GridSize>& size = std::nullopt);
Cluster read_cluster(const std::string& file);

std::string print_cluster(const Cluster& cluster);

}  // namespace strata
