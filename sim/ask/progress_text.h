#pragma once

// What a line says of how far a search or a training is. Pure; thread-safe.

#include <string>

#include "sim/solver/solution.h"
#include "sim/train/run.h"

namespace strata {

/// "elimination 40%, best 31.2 ms, bound 30.9 ms, gap 0.96%"
std::string progress_text(const SolveProgress& progress);
/// "training: step 3 of 20, loss 2.3012"
std::string progress_text(const RunProgress& progress);

}  // namespace strata
