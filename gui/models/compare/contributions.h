#pragma once

// What a step's time is made of, in parts that add up to it. Under the simulation these are the
// tasks of the critical path in the steady window, per step: each begins exactly when the one
// before it ends. Under Eq. 1 they are its terms. Pure functions; thread-safe.

#include <vector>

#include "gui/models/scene.h"
#include "sim/plan/work_kind.h"

namespace strata::gui {

struct Contribution {
  LayerId layer;  ///< invalid: what belongs to none
  WorkKind kind = WorkKind::waiting;
  Seconds seconds;
  bool operator==(const Contribution&) const = default;
};

/// In the order of layers, then kinds; none of no time. Their sum is the step time but for
/// rounding: what the path leaves over is `waiting`.
std::vector<Contribution> path_contributions(const Scene& scene);

/// t_C stands as `forward` (it holds the backward passes too), t_X as `transfer`, t_S as `sync`.
std::vector<Contribution> eq1_contributions(const Scene& scene);

}  // namespace strata::gui
