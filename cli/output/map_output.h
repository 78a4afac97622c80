#pragma once

// What `strata map` says: the winners of a plane of cases, and where they change.

#include <string>

#include <nlohmann/json.hpp>

#include "cli/output/json.h"
#include "sim/study/phase_map/phase_map.h"

namespace strata {

nlohmann::ordered_json map_json(const PhaseMap& map);
std::string map_text(const PhaseMap& map);

}  // namespace strata
