#pragma once

// Makes JSON of two strategies beside each other, layer by layer. Pure; thread-safe.

#include <nlohmann/json_fwd.hpp>

#include "sim/explain/diff.h"

namespace strata {

nlohmann::ordered_json diff_json(const Case& input, const StrategyDiff& diff);

}  // namespace strata
