#pragma once

// Oversubscribed networks: switches whose links up carry less than those from below. Pure.

#include <vector>

#include "sim/cluster/cluster.h"

namespace strata {

/// Sets the bandwidths of `links`, which are the cluster's: with links of kind "uplink", each
/// switch's up, and the ways back, carry what comes to it from below, over `ratio`, in equal parts;
/// else those of kind "inter" at the switches farthest from the devices carry so many times less.
void oversubscribe(const Cluster& cluster, double ratio, std::vector<Link>& links);

}  // namespace strata
