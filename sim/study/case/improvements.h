#pragma once

// What-ifs that make a machine faster. A step may take longer all the same: devices keep busy with
// what is ready (docs/model.md, "Anomalies"). Pure; thread-safe.

#include <optional>

#include "sim/study/case/predict.h"

namespace strata {

/// Of the what-ifs those that multiply bandwidths or speeds by 1 or more, or latencies by 1 or
/// less.
WhatIfs improvements(const WhatIfs& sets);

/// A machine on which a strategy's step is shorter though it is slower.
struct FasterWithout {
  WhatIfs improvements;  ///< that it does without
  Seconds step;
};
/// Nothing where the request has no improvements, or the step is no shorter without them, or
/// nothing is known of that machine. `step`: with them, predicted by the same options.
std::optional<FasterWithout> faster_without(const CaseRequest& request, const Strategy& strategy,
                                            Seconds step, const PredictOptions& options = {});

}  // namespace strata
