#pragma once

// How far two runs of one network are apart. Values and pure functions; thread-safe.

#include <span>
#include <string>
#include <vector>

#include "sim/graph/graph.h"

namespace strata {

/// The Euclidean distance of two tensors over the length of the longer one: 0 where both are zero.
/// Not a number where an element is none.
double relative_difference(std::span<const float> a, std::span<const float> b);
double relative_difference(std::span<const double> a, std::span<const double> b);

/// The largest over the layers, each with its weight and bias as one tensor: a bias before batch
/// normalisation has a gradient of rounding errors alone, which means nothing by itself.
struct LargestDifference {
  double value = 0;
  std::string layer;  ///< empty where nothing differs
};
LargestDifference largest_difference(const Graph& graph, const std::vector<std::vector<float>>& a,
                                     const std::vector<std::vector<float>>& b);

/// A gradient may be zero but for rounding: of a batch norm before another one, of a bias before a
/// norm, of an attention's keys. What rounding leaves is then small beside the terms of its sums,
/// which are about as large as other gradients. So a layer's gradient counts as no shorter than
/// this share of what as many elements have that are as large as those of any layer (root mean
/// square).
inline constexpr double kLeastGradient = 1e-2;
LargestDifference largest_gradient_difference(const Graph& graph,
                                              const std::vector<std::vector<float>>& a,
                                              const std::vector<std::vector<float>>& b);

/// After the same steps on the same data.
struct Differences {
  double loss = 0;              ///< of the losses of all steps
  LargestDifference gradients;  ///< of the last step
  LargestDifference weights;    ///< after it
};

}  // namespace strata
