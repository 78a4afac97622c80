#pragma once

// Configs as people read them.

#include <string>
#include <vector>

#include "sim/strategy/strategy.h"

namespace strata {

/// "n=2 c=4", "r=4 scatter=n"; "one device" where nothing is cut.
std::string config_text(const Degrees& degrees);
/// The same; ", placed" where the shards are not row-major on the first devices.
std::string config_text(const Config& config);

/// Layers that follow one another, all cut alike: from the first to the last. Inputs are left out.
struct EqualCuts {
  LayerId first, last;
};
std::vector<EqualCuts> equal_cuts(const Graph& graph, const Strategy& strategy);
/// "conv1", "conv1 .. pool5".
std::string layers_text(const Graph& graph, const EqualCuts& run);

}  // namespace strata
