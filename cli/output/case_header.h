#pragma once

// The line above what a command says of a case.

#include <cstdint>
#include <optional>
#include <string>

#include "sim/case/case.h"

namespace strata {

/// "ring", or with buckets that are not the usual ones: "ring, buckets of 100 MB".
std::string sync_text(const GradientSync& sync);

/// What of a training is not as usual: ", adam, micro-batch 2, schedule gpipe", or nothing.
std::string step_text(const Training& training, const std::string& framework);

/// "vgg16 on p100-4x4: 16 devices, batch 512, fp32, sync ring", and an empty line.
void print_header(const Case& input);

}  // namespace strata
