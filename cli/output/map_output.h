#pragma once

// What `strata map` says: the winners of a plane of cases, and where they change.

#include <string>

#include "sim/study/phase_map/phase_map.h"

namespace strata {

std::string map_text(const PhaseMap& map);

}  // namespace strata
