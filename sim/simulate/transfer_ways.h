#pragma once

// How the cluster's library (communication_library.h) moves what devices send one another on an
// edge. All that comes to a device for one input is taken as one exchange, as a library would do a
// gather, and goes by the protocol that is the fastest for it on idle links, with a step for each
// sender. A device that sends on the same edge, too, has a part of its own to copy; one that only
// receives, as from another stage of a pipeline, has not. Pure; thread-safe.

#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"

namespace strata {

struct TransferWay {
  Seconds latency;           ///< beyond that of the links
  double share = 1;          ///< of the bandwidth of links that it can use, inside a host
  double network_share = 1;  ///< likewise between hosts
  bool operator==(const TransferWay&) const = default;
};

/// By transfer of the plan that is no part of an exchange; empty where nothing is said of the
/// cluster's library.
std::vector<TransferWay> transfer_ways(const Plan& plan, const Cluster& cluster);

}  // namespace strata
