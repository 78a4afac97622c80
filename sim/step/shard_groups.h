#pragma once

// Which shards of a layer hold the same parameters, or combine the same statistics. Pure functions;
// thread-safe.

#include <cstdint>
#include <vector>

#include "sim/geometry/geometry.h"
#include "sim/graph/graph.h"
#include "sim/strategy/strategy.h"

namespace strata {

/// The shards that differ only in the dims of `over`, group by group.
std::vector<std::vector<std::uint32_t>> shard_groups(const Degrees& degrees,
                                                     const PerDim<bool>& over);

/// The shards that hold a copy of each parameter shard: groups[k] for the k-th part in the dims
/// that the parameters carry.
std::vector<std::vector<std::uint32_t>> replica_shards(const Layer& layer, const Degrees& degrees);

/// The devices of the shards, in their order.
std::vector<DeviceId> devices_of(const Config& config, std::span<const std::uint32_t> shards);

/// The layers with parameters, counted from 0 in the graph's order; others get 0.
std::vector<std::uint32_t> parameter_ordinals(const Graph& graph);

}  // namespace strata
