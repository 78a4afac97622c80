#pragma once

// Makes JSON of how far a sweep is. Pure; thread-safe.

#include <nlohmann/json_fwd.hpp>

#include "sim/study/sweep/sweep.h"

namespace strata {

nlohmann::ordered_json sweep_json(const SweepRequest& request, const SweepCount& count);

}  // namespace strata
