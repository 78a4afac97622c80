#pragma once

// What a step's time is made of, in parts that add up to it. Under the simulation these are the
// tasks of the critical path in the steady window, per step: each begins exactly when the one
// before it ends. Under Eq. 1 they are its terms. Pure functions; thread-safe.

#include <vector>

#include "gui/models/scene.h"
#include "sim/timeline/critical_path.h"

namespace strata::gui {

/// In the order of layers, then kinds; none of no time. Their sum is the step time but for
/// rounding: what the path leaves over is `waiting`.
std::vector<PathPart> path_contributions(const Scene& scene);

/// t_C stands as `forward` (it holds the backward passes too), t_X as `transfer`, t_S as `sync`.
std::vector<PathPart> eq1_contributions(const Scene& scene);

}  // namespace strata::gui
