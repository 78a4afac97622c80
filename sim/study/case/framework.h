#pragma once

// How frameworks run a step, as named settings: what they do beside the plan, with the source of
// each figure (docs/frameworks.md). Pure; thread-safe.

#include "sim/strategy/framework.h"
#include "sim/study/case/predict.h"

namespace strata {

/// Larger than the gradients of any network: all are summed at once.
inline constexpr Bytes kOneBucket{std::int64_t{1} << 50};

/// Changes what the framework does otherwise than a case by itself. A bucket that is not the usual
/// one stays.
void run_as(Framework framework, Case& input);

}  // namespace strata
