#pragma once

// Layers that share a weight are cut so that each device holds the same part of it. Of an embedding
// and the product that tells tokens by its vectors, what is channels to one are the terms of the
// other's sums; two embeddings, and attentions with the same numbers for distances, are cut alike.
// Or they lie on other devices altogether (in other stages), of which as many hold
// each part: then both have a copy of the weight. Pure; thread-safe.

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/strategy/search_space.h"
#include "sim/strategy/strategy.h"

namespace strata {

/// The cut of `layer` that goes with its weight's owner's: of several, that whose sums are divided
/// along w, then n, then c. Nothing where the layer is too small, or no strides place it.
std::optional<Cut> cut_with_weight(const Layer& layer, const Cut& owner);
/// The same on any devices, the owner's or as many others; nothing where the layer is too small.
std::optional<Config> config_with_weight(const Layer& layer, const Layer& owner,
                                         const Config& owner_config);

/// Whether all layers that share this one's weight can be cut with it.
bool suits_sharing_layers(const Graph& graph, LayerId owner, const Config& config);

/// A part of a weight: channels and terms of the layer that owns it.
using WeightPart = std::pair<Interval, Interval>;
WeightPart weight_part(const Layer& layer, const Tile& shard);

/// Whose parameters the layer computes with: of the layers that share its weight the first that has
/// some of its devices. Itself where that is the weight's owner, or where none before it has: it
/// then holds a copy. `configs`: by layer.
LayerId weight_holder(const Graph& graph, LayerId layer, std::span<const Config> configs);
/// The layers that hold copies of the owner's weight, in order.
std::vector<LayerId> weight_copies(const Graph& graph, LayerId owner,
                                   std::span<const Config> configs);

/// What is wrong where the layer shares a weight of which its devices hold other parts under its
/// config than under that of the holder or, of a copy, other numbers of devices than the owner's;
/// empty where it is sound. `configs`: by layer.
std::string wrong_with_weight(const Graph& graph, LayerId layer, std::span<const Config> configs);

}  // namespace strata
