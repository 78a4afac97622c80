#pragma once

// The work of a shard, as its op's page says it (sim/graph/ops/work.h), and the update's.

#include "sim/cost/cost_model.h"
#include "sim/graph/ops/phase.h"
#include "sim/graph/ops/work.h"

namespace strata {

/// The phase of the shard. Convolutions and fully-connected layers have arithmetic; all other ops
/// are bound by memory (docs/profiles.md lists their passes).
PhaseWork phase_work(const ShardWork& work, Phase phase, const KernelTraits& kernels = {});

}  // namespace strata
