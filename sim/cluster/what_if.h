#pragma once

// What if the network were twice as fast, or one device half as fast? Each function gives a copy
// of the cluster with other numbers; its routes are found anew, since latencies tell them apart.
//
// Selectors of links: "*", a kind ("intra", "inter") or a link's name. Of devices: "*", a kind, a
// device's name, a host, or "first:K" and "last:K", so many in the cluster's order (stragglers).
// What selects nothing is an InputError that lists what would.

#include <string_view>
#include <variant>

#include "sim/cluster/cluster.h"

namespace strata {

struct Multiple {
  double value = 1;
};

/// Links without a limit (kNoLimit) keep it, unless only such are selected.
Cluster with_link_bandwidth(const Cluster& cluster, std::string_view selector,
                            std::variant<BytesPerSecond, Multiple> change);

/// A path's latency may rest on one of its links alone, as the grids' does: where some of the
/// selected links have latency, a new value goes to those only, and else to all.
Cluster with_link_latency(const Cluster& cluster, std::string_view selector,
                          std::variant<Seconds, Multiple> change);

Cluster with_device_speed(const Cluster& cluster, std::string_view selector,
                          std::variant<double, Multiple> change);

/// One --set KEY=VALUE: link.SELECTOR.bandwidth ("25 GB/s", "2x"), link.SELECTOR.latency ("1 us",
/// "2x") or device.SELECTOR.speed ("0.5", "0.5x").
Cluster apply(const Cluster& cluster, std::string_view key, std::string_view value);

}  // namespace strata
