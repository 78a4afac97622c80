#pragma once

// What bounds a step from below, as sums over the layers of a space's strategies: for how long each
// device computes, each of the busiest links carries something and, where the network is a chain,
// the layers wait for one another (layer_chain.h; not where there are very many pairs of choices).

#include "sim/case/predict.h"
#include "sim/search/weighted_bound.h"
#include "sim/solver/solution.h"
#include "sim/strategy/search_space.h"

namespace strata {

/// Whether the devices are few enough, and so are the choices.
bool has_bound_sums(const Case& input, const SearchSpace& space);

/// `excess`: by variable and choice, by how many seconds a step with it is longer at least than the
/// best. Pairs of neighbours whose excesses are more than `most_excess` together are looked at less
/// closely, which makes their sums less. Throws Cancelled.
BoundSums bound_sums(const Case& input, const SearchSpace& space,
                     const std::vector<std::vector<double>>& excess, double most_excess,
                     const SolveLimits& limits);

}  // namespace strata
