#pragma once

// Networks as `strata run --check` compares them with one device, on CPU devices that may be made
// to err (planted_backend.h).

#include <string>

#include "sim/graph/graph.h"
#include "sim/plan/lower.h"
#include "sim/strategy/strategy.h"
#include "sim/train/check.h"
#include "tests/exec/check/planted_backend.h"

namespace strata::testing {

struct CheckedCase {
  Graph graph;  ///< of a round
  Strategy strategy;
  int devices = 2;
  GradientSync sync = {};
  Planted planted = {};  ///< of the cut
  std::uint32_t rounds = 1;
};

/// Whether STRATA_CHECK_ZOO=full asks for networks as the zoo has them: hours, not seconds.
bool whole_networks();

/// Two steps, layer by layer.
LayerCheck checked_layers(const CheckedCase& checked, const LayerProgress& progress = {});
/// And what came of as many steps.
Check checked(const CheckedCase& checked, std::size_t steps);

/// Rows of images cut where there are enough, else samples: halos in every window.
Strategy row_parallel(const Graph& graph, int devices);

/// What failed, a line each; empty where the check passed.
std::string failures(const Check& check);
std::string failures(const LayerCheck& check);

}  // namespace strata::testing
