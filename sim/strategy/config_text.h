#pragma once

// Configs as people read them.

#include <string>

#include "sim/strategy/strategy.h"

namespace strata {

/// "n=2 c=4", "r=4 scatter=n"; "one device" where nothing is cut.
std::string config_text(const Degrees& degrees);
/// The same; ", placed" where the shards are not row-major on the first devices.
std::string config_text(const Config& config);

}  // namespace strata
