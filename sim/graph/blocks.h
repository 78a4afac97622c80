#pragma once

// Blocks of layers that stand several times one after another, as a transformer's. Pure;
// thread-safe.

#include <vector>

#include "sim/graph/graph.h"
#include "sim/text/repeats.h"

namespace strata {

/// Layers of equal ops, extents and parameters that read layers equally far before them, three
/// times or more, four layers or more each time.
std::vector<Repeat> repeated_blocks(const Graph& graph);

}  // namespace strata
