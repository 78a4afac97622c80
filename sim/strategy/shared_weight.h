#pragma once

// Layers that share a weight (an embedding, and the product that tells tokens by its vectors) are
// cut so that each device holds the same part of it: what is channels to one are the terms of the
// other's sums. Or they lie on other devices altogether (in other stages), of which as many hold
// each part: then both have a copy of the weight. Pure; thread-safe.

#include <optional>
#include <span>
#include <string>

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

/// Whether the layer shares a weight whose owner has none of its devices.
bool copies_weight(const Graph& graph, LayerId layer, std::span<const Config> configs);

/// What is wrong where the layer shares a weight of which devices hold other parts under the one's
/// config than under the other's, or, where they have no device in common, other numbers of devices
/// hold a part; empty where it is sound. `configs`: by layer.
std::string wrong_with_weight(const Graph& graph, LayerId layer, std::span<const Config> configs);

}  // namespace strata
