#pragma once

// A network of one layer with all that the layer reads, drawn in single precision, and what its
// shards compute held against the referee.

#include <vector>

#include "sim/graph/graph.h"
#include "tests/exec/cpu/layer_on_shards.h"
#include "tests/exec/reference/reference.h"

namespace strata::cpu {

/// Of the largest value of a tensor: single precision, over a few thousand terms.
inline constexpr double kTolerance = 1e-5;

/// The largest difference over the largest wanted value, where that is above `least`; infinite
/// where one is not a number.
double distance(const std::vector<double>& got, const std::vector<double>& wanted,
                double least = 0);

/// Layer 1 reads the input, layer 0. Weights and values lie in [-1, 1).
struct DrawnLayer {
  DrawnLayer(const Extents& input, const Op& op, Random& random);

  Graph graph;
  reference::Tensor x, dy;
  reference::Weights weights;
};

/// Output and all gradients, twice: what a run leaves behind must not reach the next.
void expect_as_reference(const DrawnLayer& drawn, const Cut& cut);

}  // namespace strata::cpu
