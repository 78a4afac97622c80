#pragma once

// Which layers of a network carry the slots of experts, what of their work falls to which device
// where experts have unequally many tokens, and changes of that. Pure; thread-safe.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/graph/graph.h"

namespace strata {

bool has_experts(const Graph& graph);

/// A copy of the network of which `change` was applied to the routing of every layer between a
/// dispatch and its combination, both included. Throws InputError for a network without experts.
Graph with_routing(const Graph& graph, const std::function<void(ExpertRouting&)>& change);

/// The same where experts have unequally many tokens: "balanced"; "zipf:S", of which the k-th most
/// loaded expert has a share in proportion to k^-S, or all tokens at most, and the order of experts
/// is drawn once; or the name of a file with a count for each expert. Throws InputError.
Graph with_expert_load(const Graph& graph, const std::string& text);

/// The loads of "zipf:S" by expert; their mean is 1, and none is above experts / top_k.
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
