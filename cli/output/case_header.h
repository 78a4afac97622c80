#pragma once

// The line above what a command says of a case.

#include <string>

#include "sim/study/case/predict.h"

namespace strata {

/// "ring", or with buckets that are not the usual ones: "ring, buckets of 100 MB".
std::string sync_text(const GradientSync& sync);
/// "vgg16 on p100-4x4: 16 devices, batch 512, fp32, sync ring", and an empty line.
void print_header(const Case& input);

}  // namespace strata
