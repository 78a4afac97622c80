#pragma once

// The parameters of a whole network, for a run to start from or to keep. By layer (LayerId), its
// weight and then its bias, row-major, as PlanRun has them; empty where a layer has none. Values
// and functions; thread-safe.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/graph/graph.h"

namespace strata {

using NetworkWeights = std::vector<std::vector<float>>;

/// Weight and bias of convolutions, fully-connected and linear layers uniform in [-b, b), b = 1 /
/// sqrt(fan-in), as PyTorch has it by default (He et al., 2015, with a = sqrt(5));
/// norms: scale 1, shift 0; vectors of tokens and positions normal, of standard deviation 0.02; a
/// class token 0. Nothing of a layer that shares another's weight. A value depends on the seed, its
/// layer's name and its place.
NetworkWeights initial_weights(const Graph& graph, std::uint64_t seed);

/// LAYER.weight.npy and LAYER.bias.npy of a folder; other files are left alone. Throws InputError
/// that lists every file that is missing or has the wrong shape.
NetworkWeights read_weights(const std::string& folder, const Graph& graph);

/// The same files in a new folder: all or none. Throws EnvironmentError.
void write_weights(const std::string& folder, const Graph& graph, const NetworkWeights& weights);

/// Throws InputError, for each layer with parameters whose name can't be that of a file, so that a
/// long run does not end in vain.
void check_weight_files(const Graph& graph);

/// Throws InputError where `folder` is there and not an empty folder; EnvironmentError where it
/// could not be made.
void check_new_folder(const std::string& folder);

/// (O, I/groups, [kD,] [kH,] kW), (O, I), (C) or (C, positions); of an embedding (vocabulary, C).
std::vector<std::int64_t> weight_shape(const Layer& layer);

}  // namespace strata
