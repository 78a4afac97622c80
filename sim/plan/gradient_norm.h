#pragma once

// Who takes part where all updates wait for the norm of all gradients. Pure; thread-safe.

#include <vector>

#include "sim/base/index.h"
#include "sim/base/units.h"
#include "sim/step/step.h"
#include "sim/strategy/strategy.h"

namespace strata {

inline constexpr Bytes kNormBytes{4};

/// Those that hold shards of a layer that trains, in their order.
std::vector<DeviceId> devices_with_gradients(const Strategy& strategy, const Step& step);

}  // namespace strata
