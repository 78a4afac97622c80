#pragma once

// Makes JSON of which strategy wins where, and where another takes over. Pure; thread-safe.

#include <nlohmann/json_fwd.hpp>

#include "sim/graph/graph.h"
#include "sim/study/phase_map/phase_map.h"

namespace strata {

/// `graph`: the network of the map's cases.
nlohmann::ordered_json map_json(const Graph& graph, const PhaseMap& map);

}  // namespace strata
