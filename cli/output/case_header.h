#pragma once

// The line above what a command says of a case.

#include <cstdint>
#include <optional>
#include <string>

#include "sim/case/predict.h"

namespace strata {

/// "ring", or with buckets that are not the usual ones: "ring, buckets of 100 MB".
std::string sync_text(const GradientSync& sync);

/// How a step is trained, as commands of predictions and of runs say it.
struct StepSettings {
  Optimizer optimizer = Optimizer::sgd;
  std::optional<DType> gradients = {};  ///< where they are not of the parameters' type
  std::optional<std::int64_t> micro_batch = {};
  std::string schedule = {};  ///< a kind's name or a file, where it was asked for
  Recompute recompute = Recompute::none;
  std::string framework = std::string(kNoFramework);
};
/// What of it is not as usual: ", adam, micro-batch 2, schedule gpipe", or nothing.
std::string step_text(const StepSettings& step);

/// "vgg16 on p100-4x4: 16 devices, batch 512, fp32, sync ring", and an empty line.
void print_header(const Case& input);

}  // namespace strata
