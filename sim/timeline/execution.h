#pragma once

// What it takes to run a plan for real, beside the plan, and what comes of it. Values.

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/graph/batch.h"
#include "sim/plan/plan.h"
#include "sim/timeline/timeline.h"

namespace strata {

struct ExecutionOptions {
  float learning_rate = 0.01F;
  std::uint64_t seed = 0;       ///< of the dropout masks
  bool training = true;         ///< false: steps end with the loss, and dropout passes everything
  bool keep_gradients = false;  ///< of the parameters, of each run's last step
  bool serial = false;          ///< on a GPU of several devices: one task at a time
  bool recorded = false;        ///< a step is recorded once and played again; GPUs alone can
};

/// The data of each step, counted from 0 over all runs of one executor.
using BatchOf = std::function<Batch(std::uint64_t step)>;

/// Steps [begin, end) of a run.
struct StepRange {
  std::size_t begin = 0, end = 0;
  bool contains(std::size_t step) const { return begin <= step && step < end; }
};

/// Bytes are those that were copied between devices, counted as they were copied.
struct Execution {
  Timeline timeline;
  StepRange played;                   ///< steps from a recording: only their ends were measured
  std::vector<double> losses;         ///< by step: the mean over the batch
  std::vector<std::int64_t> correct;  ///< by step: samples whose label has the largest logit
  Communication moved;                ///< in all steps
};

}  // namespace strata
