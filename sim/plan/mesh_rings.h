#pragma once

// The rings that a library lays over the links that devices have to each other: on the hybrid cube
// mesh of a DGX-1 four, each way round the double links and each way round the single ones, so that
// a device sends over all its links at once. Pure; thread-safe.

#include <span>
#include <vector>

#include "sim/cluster/domain_routes.h"

namespace strata {

struct MeshRing {
  std::vector<DeviceId> order;  ///< as the ring visits them
  double part;                  ///< of the tensor, that it carries: its bandwidth over that of all
};

/// Rings over links from device to device that share no bandwidth, together as fast as a bounded
/// search finds. None where devices reach each other over switches, or no such ring visits all of
/// them. `devices`: two at least.
std::vector<MeshRing> mesh_rings(const Cluster& cluster, const DomainRoutes& routes,
                                 std::span<const DeviceId> devices);

}  // namespace strata
