#pragma once

// Small random networks and strategies: every op, uneven parts, shuffled subsets of the devices.

#include <cstdint>
#include <random>

#include "sim/cluster/cluster.h"
#include "sim/graph/graph.h"
#include "sim/strategy/strategy.h"

namespace strata::testing {

using Random = std::mt19937_64;

std::int64_t pick(Random& random, std::int64_t low, std::int64_t high);

/// 3 to 9 layers over a 2-D or 3-D input; the first computing layer has parameters.
Graph random_graph(Random& random);

/// `layers` layers over a 1-D, 2-D or 3-D input, of every op, wired at random: series-parallel or
/// not, in one part or several, with any number of ends, with a loss or without.
Graph random_network(Random& random, std::int64_t layers);

/// A transformer of one or two blocks of any family: decoders and encoders, grouped queries,
/// weights that layers share, planes made into tokens.
Graph random_transformer(Random& random);

/// Any degrees that fit the extents and the devices, shards on random distinct devices. With
/// `reductions` some layers are cut in r, too, or copied. Layers that share a weight go together
/// or, with a copy of it, lie elsewhere, and every other layer that could read with another does.
Strategy random_strategy(Random& random, const Graph& graph, std::size_t devices,
                         bool reductions = true);

/// `devices` on one switch, every path 10 GB/s.
Cluster star(std::size_t devices);

}  // namespace strata::testing
