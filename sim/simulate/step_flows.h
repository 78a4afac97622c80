#pragma once

// What the transfers and groups of a plan put on links, which is the same in every step: a pass
// from plan to flows. Values; thread-safe to read.

#include <atomic>
#include <cstdint>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/engine/workload.h"
#include "sim/plan/plan.h"

namespace strata {

struct Flow {
  std::vector<Demand> demands;
  double bytes = 0;
  Tick latency = 0;
};

struct StepFlows {
  std::vector<Flow> distinct;            ///< of transfers: rounds move the same again
  std::vector<std::uint32_t> transfers;  ///< in `distinct`, in the order of Task::detail
  /// By group shape, for each byte of the tensor: one after another.
  std::vector<std::vector<Flow>> shapes;
  bool by_library = false;  ///< the cluster's library moves them (transfer_ways.h)

  const Flow& of(const Task& transfer) const { return distinct[transfers[transfer.detail]]; }
};
/// Transfers that move with others (exchanges) or on no link (on hosts) have none of their own.
/// Throws Cancelled, and InputError where the cluster does not connect two devices or one flow
/// outlasts the clock.
StepFlows step_flows(const Plan& plan, const Cluster& cluster,
                     const std::atomic<bool>* cancelled = nullptr);

/// Throws InputError, which names the link, where so many bytes outlast the clock on one.
void check_flow(const Cluster& cluster, const Flow& flow, double bytes);

}  // namespace strata
