#pragma once

// A strategy as JSON, both ways:
//
//   {"strategy": "mine", "model": "vgg16", "cluster": "p100-1x4",
//    "layers": [{"name": "conv1", "config": {"n": 4}, "devices": ["gpu0", ...]}, ...]}
//
// A degree that a config leaves out is 1. Beside the dims of the output a config may cut "r", the
// reduction, and then say along which dim each sum is divided, {"r": 4, "scatter": "c"}; else that
// is best_scatter(). Without "devices" the shards sit on the first devices of the cluster. A
// "default" config serves layers that are not listed (clipped to their extents); network inputs
// never need to be. Layers of one label, "recompute": "block 1", are a segment that is computed
// again for the backward pass (recomputation.h); without labels, the case says whether layers are.

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "sim/strategy/strategy.h"

namespace strata {

/// Throws InputError with a line for each thing that is wrong, naming the layer and the dim.
Strategy parse_strategy(std::string_view json, const std::string& file, const Graph& graph,
                        const Cluster& cluster);
Strategy read_strategy(const std::string& file, const Graph& graph, const Cluster& cluster);

/// For whom a file says that its strategy is; empty where it doesn't.
struct StrategyNames {
  std::string model, cluster;
};
/// Throws InputError where it is no JSON object, or these are no strings.
StrategyNames read_strategy_names(const std::string& file);

/// A config as a strategy file has it: {"n": 1, ..., "w": 1}, and r and scatter where r is cut.
nlohmann::ordered_json degrees_json(const Degrees& degrees);
/// A layer as a strategy file has it: its whole config, where they are not the first its devices,
/// and where it has one the number of its segment as its label.
nlohmann::ordered_json layer_json(const Strategy& strategy, LayerId id, const Graph& graph,
                                  const Cluster& cluster);
/// The file of all layers.
std::string print_strategy(const Strategy& strategy, const Graph& graph, const Cluster& cluster);

}  // namespace strata
