#pragma once

// Which layers of a network carry the slots of experts, what of their work falls to which device
// where experts have unequally many tokens, and changes of that. Pure; thread-safe.

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "sim/graph/graph.h"

namespace strata {

bool has_experts(const Graph& graph);

/// A copy of the network of which `change` was applied to the routing of every layer between a
/// dispatch and its combination, both included. Throws InputError for a network without experts.
Graph with_routing(const Graph& graph, const std::function<void(ExpertRouting&)>& change);

/// All experts have equally many tokens.
struct BalancedLoad {};
/// The k-th most loaded expert has a share of the tokens in proportion to k^-exponent. Which expert
/// that is, is drawn once.
struct ZipfLoad {
  double exponent = 0;
};
/// How many tokens each expert has: finite numbers from 0.
struct CountedLoad {
  std::vector<double> tokens;
};
using ExpertLoad = std::variant<BalancedLoad, ZipfLoad, CountedLoad>;

/// A copy of the network whose experts have unequally many tokens. Throws InputError for a network
/// without experts, and for counts that are not those of its experts.
Graph with_expert_load(const Graph& graph, const ExpertLoad& load);

/// The loads of a ZipfLoad by expert. Their mean is 1. An expert has a token once, so none is above
/// experts / top_k.
std::vector<double> zipf_load(std::int64_t experts, std::int64_t top_k, double exponent);

/// What a shard's experts have of the work that they would have if all had equally many tokens; 1
/// for layers that carry no slots.
double load_of(const Layer& layer, const Box& shard);
/// The largest of those of `parts` equal parts of the experts.
double most_load(const Layer& layer, std::int64_t parts);

/// The shard with as many slots of its experts as their load says.
Tile loaded(const Layer& layer, Tile shard);

/// The dispatch whose slots the layer reads or makes; the layer carries some.
LayerId dispatch_of(const Graph& graph, LayerId layer);

}  // namespace strata
