#pragma once

// The layer that somebody asks about by its name. Pure; thread-safe.

#include <string>

#include "sim/graph/graph.h"

namespace strata {

/// Throws InputError for a name that the network has not, with names like it, and for one of its
/// inputs, which have no configs.
LayerId find_layer(const Graph& graph, const std::string& layer);

}  // namespace strata
