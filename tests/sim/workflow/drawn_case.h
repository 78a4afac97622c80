#pragma once

// Networks, clusters, strategies and what-ifs at random, as the files and the settings that users
// have them in.

#include <string>

#include "sim/study/case/predict.h"
#include "tests/sim/plan/random_case.h"

namespace strata::testing {

/// A cluster file of 1 to 8 devices in hosts, of one kind or of several, on switches, in a chain or
/// with links of their own, all of which reach each other.
std::string drawn_cluster(Random& random);

/// A what-if that suits any such cluster and any network with a layer.
std::pair<std::string, std::string> drawn_what_if(Random& random);

/// A case of the files net.toml and cluster.toml in the folder, which it writes, and a strategy for
/// it, without what-ifs. The network has this batch.
struct DrawnCase {
  CaseRequest request;
  Strategy strategy;
};
DrawnCase drawn_case(Random& random, const std::string& folder);

}  // namespace strata::testing
