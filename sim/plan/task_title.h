#pragma once

// What a task is called where people read it: "conv1 forward", "fc6 ring all-reduce". Pure.

#include <string>
#include <string_view>

#include "sim/graph/graph.h"
#include "sim/plan/plan.h"

namespace strata {

/// Of several rounds, with the task's: "conv1 forward, round 2".
std::string task_title(const Graph& graph, const Plan& plan, const Task& task);

/// ", round 2", counted from 0; empty where a step has one round, and where the task is of all.
std::string round_text(const Plan& plan, const Task& task);

/// The names of the layers that are one product with that of a computation: "query, key, value".
/// Empty of all else.
std::string product_text(const Graph& graph, const Plan& plan, const Task& task);

/// As a trace files it (`cat`): "compute", "transfer", "collective" for all parts of groups,
/// "join".
std::string_view task_category(TaskKind kind);

}  // namespace strata
