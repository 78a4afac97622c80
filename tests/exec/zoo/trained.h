#pragma once

// A few steps of training on CPU devices, and how far what came of them is from another's.

#include <string>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/plan/lower.h"
#include "sim/strategy/strategy.h"

namespace strata::testing {

struct Trained {
  std::vector<double> losses;                          ///< by step
  std::vector<std::vector<float>> gradients, weights;  ///< by layer, after the last step
};

/// From the same weights, on the same batch, with the same dropout masks, however it is cut.
Trained train(const Graph& graph, const Strategy& strategy, int devices, SyncAlgorithm sync);

/// What differs by more than `tolerance`, a line each; empty where nothing does. Tensors: distance
/// over length, both Euclidean, of each layer's weight and bias together. A gradient that is next
/// to nothing beside the network's largest one is held to a hundredth of that, for what sums cancel
/// is rounding: before a batch norm, say.
std::vector<std::string> differences(const Graph& graph, const Trained& a, const Trained& b,
                                     double tolerance);

}  // namespace strata::testing
