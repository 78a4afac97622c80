#pragma once

// How the cluster's library (communication_library.h) moves what devices send one another on an
// edge. All that comes to a device for one input is taken as one exchange, as a library would do a
// gather, and goes by the protocol that is the fastest for it on idle links, with a step for each
// sender. A device that sends on the same edge, too, has a part of its own to copy; one that only
// receives, as from another stage of a pipeline, has not. Each half of an all-reduce has a half of
// its latency and of what is copied. Pure; thread-safe.

#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/simulate/runtime.h"

namespace strata {

struct TransferWay {
  Seconds latency;           ///< beyond that of the links
  double share = 1;          ///< of the bandwidth of links that it can use, inside a host
  double network_share = 1;  ///< likewise between hosts
  bool operator==(const TransferWay&) const = default;
};

/// By transfer of the plan; empty where nothing is said of the cluster's library. `all_reduced`, by
/// task: those of the sums that are.
std::vector<TransferWay> transfer_ways(const Plan& plan, const Cluster& cluster,
                                       const std::vector<bool>& all_reduced = {});

/// By task of the plan: the additions whose sums all that made a part of them fetch, and the
/// transfers before and after these, of which a library makes one all-reduce. Empty where sums are
/// in parts or nothing is said of the cluster's library.
std::vector<bool> all_reduced(const Plan& plan, const Cluster& cluster, PartialSums sums);

/// By task: the additions that a library does while it moves what they add up: those of
/// `all_reduced`, and of a reduce-scatter. Empty for none.
std::vector<bool> added_by_library(const Plan& plan, const std::vector<bool>& all_reduced);

}  // namespace strata
