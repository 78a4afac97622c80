#pragma once

// What the algorithms of a collective put on every link (collective.h), before a library's
// protocols are considered: how much of it inside domains and between them, and in how many steps.
// Pure functions; thread-safe.

#include <span>
#include <vector>

#include "sim/plan/collective.h"

namespace strata {

/// Bytes that cross the link for every byte that the phase counts: by steps inside a domain and
/// between domains.
struct StepLoad {
  LinkId link;
  double inside = 0;
  double between = 0;
  double weight() const { return inside + between; }
};

/// One phase of a tensor of one byte.
struct PhaseShape {
  double bytes_per_byte = 0;
  Seconds latency;     ///< of the links, over all steps
  double inside = 0;   ///< steps inside a domain
  double between = 0;  ///< steps between domains
  double parts = 0;    ///< of the tensor, that each device passes on; 0 where it is not cut
  std::vector<StepLoad> loads;  ///< sorted by link
};

/// Of ring, tree or hierarchical; `devices`: two at least. Hierarchical has three phases, or of a
/// half two; those that have nothing to do are empty. An all-to-all is one, whatever the algorithm.
std::vector<PhaseShape> phase_shapes(SyncAlgorithm algorithm, GroupWork work,
                                     const Cluster& cluster, std::span<const DeviceId> devices);

}  // namespace strata
