#pragma once

// The devices in the order a ring visits them.

#include <span>
#include <vector>

#include "sim/cluster/domain_routes.h"

namespace strata {

/// Neighbours over the shortest routes: a cyclic order found by nearest neighbour and 2-opt;
/// deterministic. `devices`: at least one.
std::vector<DeviceId> ring_order(const DomainRoutes& routes, std::span<const DeviceId> devices);
std::vector<DeviceId> ring_order(const Cluster& cluster, std::span<const DeviceId> devices);

}  // namespace strata
