#pragma once

// Where the numbers of a step ended: when a loss is infinite or not a number, what first was so of
// what the loss was made from. Looks at what is still in the devices' memory, so a run must have
// stopped. Thread-safe.

#include <span>
#include <string>

#include "exec/runtime/backend.h"
#include "sim/graph/graph.h"
#include "sim/plan/plan.h"

namespace strata {

/// The first, in the order of the plan's forward tasks, of a task's network data, the input that it
/// gathered (whose producer's output may be gone), its parameters and its output, that holds a
/// value which is not finite: "the output of layer conv1, shard 0 on cpu0". Empty where there is
/// none, or where the devices can't be asked. `memory`: by buffer, null where it is not there. No
/// device may be at work.
std::string first_not_finite(const Graph& graph, const Plan& plan, std::span<void* const> memory,
                             Backend& backend);

}  // namespace strata
