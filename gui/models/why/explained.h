#pragma once

// Why a scene's layer is cut as it is: sim/study/search/explain.h's answer, and beside it what the
// strategy would keep in memory with each config. Made in a job; thread-safe.

#include <memory>
#include <vector>

#include "gui/models/scene.h"
#include "sim/study/search/explain.h"

namespace strata::gui {

struct Explained {
  ScenePtr scene;
  LayerId layer;
  Explanation explanation;
  /// By choice: what the fullest device keeps at least, all other layers being as they are.
  std::vector<Bytes> memory;
  Bytes capacity;  ///< of the smallest device
};
using ExplainedPtr = std::shared_ptr<const Explained>;

/// Precondition: `layer` is not a network input.
ExplainedPtr explained(const ScenePtr& scene, LayerId layer);

}  // namespace strata::gui
