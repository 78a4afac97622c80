#pragma once

// Random small networks of every op, however wired, on clusters of up to four devices, whose
// strategies can all be tried one by one.

#include <cstddef>
#include <vector>

#include "sim/case/predict.h"
#include "sim/solver/solution.h"
#include "sim/strategy/search_space.h"
#include "tests/sim/plan/random_case.h"

namespace strata::testing {

struct Trial {
  Case input;
  SearchOptions options;
};

Trial random_trial(Random& random, double most_strategies = 2e6);

/// With stragglers, and without overlap.
Trial harder_trial(Random& random, double most_strategies);

/// Layer after layer, some of whose parts take long to send, on up to `most_devices` devices; with
/// any sums of gradients, stragglers, slower or faster links, and without overlap.
Trial chain_trial(Random& random, std::size_t most_devices);

/// How many a space has.
double strategies(const SearchSpace& space);

/// All choices of a space of at most so many strategies, else so many at random.
std::vector<Choices> some_choices(const SearchSpace& space, std::size_t most, Random& random);

/// A straggler, which may be the first device.
void slow_one_down(Random& random, Cluster& cluster);

}  // namespace strata::testing
