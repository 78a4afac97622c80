#pragma once

// Blocks of layers that stand several times one after another, as a transformer's. Pure;
// thread-safe.

#include <cstddef>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/text/repeats.h"

namespace strata {

/// By layer: the first one of equal op, extents and parameters that reads layers equally far before
/// it; its own number where there is none before it.
std::vector<std::size_t> alike_layers(const Graph& graph);
/// Blocks are worth folding from so many times and layers on.
inline constexpr std::size_t kLeastTimes = 3, kLeastLayers = 4;

/// Layers of equal ops, extents and parameters that read layers equally far before them, three
/// times or more, four layers or more each time.
std::vector<Repeat> repeated_blocks(const Graph& graph);

}  // namespace strata
