#pragma once

// What a task is called where people read it: "conv1 forward", "fc6 ring all-reduce". Pure.

#include <string>

#include "sim/graph/graph.h"
#include "sim/plan/plan.h"

namespace strata {

std::string task_title(const Graph& graph, const Plan& plan, const Task& task);

}  // namespace strata
