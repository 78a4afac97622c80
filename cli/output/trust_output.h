#pragma once

// How far a prediction may be trusted: what its compute time rests on, and how far off published
// steps of its sort were.

#include <optional>
#include <string>

#include "sim/case/predict.h"
#include "sim/trust/expected_error.h"

namespace strata {

/// "Not measured on a100 in fp16: 31% conv2d backward_weights (related), 12% batch_norm forward
/// (analytic)" and an end of line; empty where all is measured.
std::string not_measured_text(const Case& input, const Prediction& prediction);

/// A line.
std::string expected_error_text(const std::optional<ExpectedError>& error);

}  // namespace strata
