#pragma once

// Where a scene's step goes, as bars: of all devices on average and, in a pipeline, of those of
// each stage. sim/timeline/breakdown.h says what the parts are. Pure; thread-safe.

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gui/models/scene.h"

namespace strata::gui {

/// In the order in which a bar has them.
enum class StepPart : std::uint8_t {
  compute,
  recompute,
  optimizer,
  transfer,
  reduce,
  gather,
  statistics,
  launch,
  bubble
};
inline constexpr std::size_t kStepPartCount = 9;
std::string_view name(StepPart part);  ///< "exposed gradient sums"

struct PartsBar {
  std::string name;  ///< "a device's step", "stage 1"
  std::array<Seconds, kStepPartCount> parts;

  Seconds of(StepPart part) const { return parts[static_cast<std::size_t>(part)]; }
};

struct PartsOfStep {
  ScenePtr scene;
  Seconds step;                ///< to which the parts of each bar come
  std::vector<PartsBar> bars;  ///< the first is of all devices
};
using PartsOfStepPtr = std::shared_ptr<const PartsOfStep>;

PartsOfStepPtr parts_of_step(const ScenePtr& scene);

}  // namespace strata::gui
