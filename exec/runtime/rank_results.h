#pragma once

// What ranks know together: each holds its device's part, and all of them ask in one order. Values
// that several ranks hold must be the same. Thread-safe as the Ranks are.

#include <vector>

#include "exec/runtime/executor.h"
#include "exec/runtime/ranks.h"
#include "exec/runtime/task_work.h"
#include "sim/graph/graph.h"
#include "sim/timeline/timeline.h"

namespace strata {

/// Losses and bytes moved of `work`, and spans, zero where another rank has them, become
/// everybody's.
void merge_results(const Ranks& ranks, TaskWork& work, std::vector<Span>& spans);

/// Of a whole layer. Throws EnvironmentError where replicas on different ranks hold different
/// values, for they were made from the same sums in the same order.
std::vector<float> merged_parameters(const Ranks& ranks, const Executor& own, const Graph& graph,
                                     LayerId layer);
/// Of replicas that hold the sum, or of the parameter server, which alone has it.
std::vector<float> merged_gradients(const Ranks& ranks, const Executor& own, LayerId layer);

}  // namespace strata
