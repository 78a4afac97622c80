#pragma once

// What of a step's communication is exposed, since it is on the critical path, and what is hidden.
// Pure functions; thread-safe.

#include <span>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/plan/work_kind.h"
#include "sim/timeline/critical_path.h"
#include "sim/timeline/timeline.h"

namespace strata {

/// Per step, in the steady window.
struct Exposure {
  LayerId layer;     ///< the consumer of what is transferred, or whose gradients or statistics are
                     ///< summed (of a bucket the last layer); invalid: of all communication
  LayerId producer;  ///< of what is transferred, the layer itself of its partial sums; invalid for
                     ///< sums of gradients and of statistics
  WorkKind kind = WorkKind::transfer;  ///< or sync, or statistics
  Seconds lasts;                       ///< while at least one such task is under way
  Seconds exposed;                     ///< of that, what is on the critical path

  Seconds hidden() const { return lasts - exposed; }
  bool operator==(const Exposure&) const = default;
};

struct Exposures {
  Exposure all;
  std::vector<Exposure> parts;  ///< by layer, producer and kind; at one time several may last
};

/// `path`: critical_path() of them.
Exposures exposures(const Graph& graph, const Plan& plan, const Timeline& timeline,
                    std::span<const PathStep> path);

}  // namespace strata
