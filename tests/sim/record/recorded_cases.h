#pragma once

// The cases that are recorded: a network of the zoo on a cluster, cut by a strategy, whose replicas
// sum by an algorithm. All costs are analytic, of shipped profiles or of a toy. Pure; thread-safe.

#include <span>
#include <string_view>
#include <vector>

#include "sim/case/predict.h"

namespace strata::testing {

/// 1, 2, 4 and 16 GPUs, and 4 cores, which have no copy engines and sum gradients themselves.
std::span<const std::string_view> recorded_clusters();

/// 32 samples a device.
Case recorded_case(std::string_view network, std::string_view cluster);

/// Data, model and OWT, and three that are random: two in which every layer is cut by itself, and
/// one of the search space. Each cut once, by the name that comes first.
std::vector<Strategy> recorded_strategies(const Case& input);

/// Those that differ: ring alone where no parameters are replicated; without copy engines, where
/// devices sum by hand, ring for tree and hierarchical too.
std::span<const SyncAlgorithm> recorded_syncs(const Case& input, const Strategy& strategy);

}  // namespace strata::testing
