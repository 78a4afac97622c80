#pragma once

// What `strata predict --beside` says: a trace of PyTorch's profiler beside the prediction, layer
// by layer.

#include <string>

#include "sim/study/validate/kernel_times.h"

namespace strata {

std::string beside_text(const Case& input, const Prediction& prediction,
                        const TraceComparison& compared);

}  // namespace strata
