#pragma once

// A cluster's parts as text, one a line, so that a test can show them whole.

#include <string>

#include <fmt/format.h>

#include "sim/cluster/cluster.h"

namespace strata {

/// "gpu0>nic0 nic0>gpu1": the names of the route's links.
inline std::string route_names(const Cluster& cluster, std::size_t from, std::size_t to) {
  std::string names;
  for (const LinkId link : cluster.route(DeviceId(from), DeviceId(to))) {
    names += (names.empty() ? "" : " ") + cluster[link].name;
  }
  return names;
}

/// "name: from -> to, GB/s, us, kind" for each link.
inline std::string link_lines(const Cluster& cluster) {
  std::string lines;
  for (const Link& link : cluster.links()) {
    lines += fmt::format("{}: {} -> {}, {:.4g} GB/s, {:.4g} us, {}\n", link.name,
                         cluster.vertex_name(link.from), cluster.vertex_name(link.to),
                         link.bandwidth.value * 1e-9, link.latency.value * 1e6, link.kind);
  }
  return lines;
}

}  // namespace strata
