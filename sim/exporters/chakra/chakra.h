#pragma once

// A Plan and its Timeline as Chakra execution traces (MLCommons), which simulators such as
// ASTRA-sim replay: a file a device, each a header message and then a node for every task that
// happens there, in plan order. Messages are prefixed by their length.
//
// A compute task is a COMP_NODE. A transfer is a COMM_RECV_NODE on its device for each device that
// it hears from, and a COMM_SEND_NODE there, with equal tags. A part in a group is a
// COMM_COLL_NODE: an all-reduce, or without copy engines a reduce-scatter and an all-gather. Groups
// stand in a METADATA_NODE first. Joins are no nodes: what waits for them waits for their tasks.

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/graph/graph.h"
#include "sim/plan/plan.h"
#include "sim/timeline/timeline.h"

namespace strata {

struct ChakraTraces {
  std::vector<std::string> files;  ///< by device
  std::size_t nodes = 0;
  /// Waits for another device that no message carries (plans whose flows were put together).
  std::size_t left_out = 0;
};

/// All steps of the timeline, each linked to the one before it. Throws InputError where they have
/// more messages than tags can tell apart.
ChakraTraces print_chakra(const Graph& graph, const Cluster& cluster, const Plan& plan,
                          const Timeline& timeline);

}  // namespace strata
