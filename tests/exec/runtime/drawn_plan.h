#pragma once

// A random network, cut at random over 1 to 4 cores, as a plan that the executor can run.

#include "sim/cluster/cpu_cluster.h"
#include "sim/plan/lower.h"
#include "tests/sim/plan/random_case.h"

namespace strata::testing {

struct DrawnPlan {
  explicit DrawnPlan(Random& random)
      : devices(static_cast<std::size_t>(pick(random, 1, 4))),
        graph(random_graph(random)),
        cluster(cpu_cluster(static_cast<int>(devices))),
        plan(cut(random)) {}

  std::size_t devices;
  Graph graph;
  Cluster cluster;
  Plan plan;

 private:
  Plan cut(Random& random) const {
    const Strategy strategy = random_strategy(random, graph, devices);
    LowerOptions options;
    options.sync = pick(random, 0, 1) == 0 ? SyncAlgorithm::ring : SyncAlgorithm::ps;
    options.sync.bucket = {1024 * pick(random, 0, 2)};
    options.gathers_again = pick(random, 0, 1) == 0;
    if (options.sync.algorithm != SyncAlgorithm::ps) {
      options.sync.zero = static_cast<Zero>(pick(random, 0, 3));
    }
    return lower(graph, cluster, strategy, options);
  }
};

}  // namespace strata::testing
