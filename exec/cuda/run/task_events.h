#pragma once

// Which events a run's tasks need, found from the plan before anything runs, by walking the tasks
// as StreamRun does. A task's end is marked only where another stream waits for it: one that does
// not come after it by what it waited for already, or one to which memory goes that the task used
// last on its stream. And a task whose stream waits for nothing between it and the task before
// begins when that one ends: one event tells both times.
//
// Steps are alike from the second on: within a step the same is waited for in each, and what is
// carried comes from the step before alone. So two steps are walked. Pure; thread-safe.
//
// A join is on no stream: who waits for it waits for what it joins. Of all that a task waits for
// the last comes first, which the others often come before (latest_first()).

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/cuda/run/crossing.h"
#include "exec/cuda/run/cuda_backend.h"
#include "exec/runtime/program.h"
#include "sim/plan/plan.h"

namespace strata::cuda {

struct TaskEvents {
  std::vector<bool> is_waited_for;     ///< by task: its end is marked
  std::vector<TaskId> follows;         ///< by task: whose end is its start; invalid where nobody's
  std::vector<std::uint32_t> streams;  ///< those on which tasks are
};

/// `serial`: each task waits for the one before it on its GPU.
TaskEvents task_events(const Plan& plan, const Program& program, const CudaBackend& backend,
                       const Crossing& crossing, bool serial);

}  // namespace strata::cuda
