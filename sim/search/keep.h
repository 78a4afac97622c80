#pragma once

// A search that leaves some layers alone: they stay as a strategy cuts them, be that a cut that the
// search would not consider, and the rest is solved around them. Pure; thread-safe.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/search/solve.h"
#include "sim/strategy/search_space.h"

namespace strata {

/// The strategies of the space with these layers as they are. Layers that share their choice with a
/// kept one follow it. Throws InputError, a line for each layer that cannot be kept: where two of
/// one choice are cut in two ways, or shards are on devices that no search puts them on.
SearchSpace keep(const SearchSpace& space, const Case& input, const KeptLayers& kept);

/// Whether it cuts the kept layers so, too.
bool keeps(const Strategy& strategy, const KeptLayers& kept);

/// The layers of these names. Throws InputError for a name that the network has not, or that is its
/// input.
std::vector<LayerId> layers_named(const Graph& graph, std::span<const std::string> names);

}  // namespace strata
