#pragma once

// What `strata predict` says of memory: what the fullest device holds at its peak, and with
// --memory each tensor that it keeps for its backward pass.

#include <optional>
#include <string>

#include "sim/case/predict.h"

namespace strata {

/// "data: memory of host0/gpu0 at its peak 21.2 GB: 5.1 GB of parameters, ..."; and whether that
/// fits, into `limit` where there is one.
std::string peak_text(const Case& input, const Prediction& prediction,
                      std::optional<Bytes> limit = {});
/// A row for each tensor that the device keeps, those of equal layers in one.
std::string kept_text(const Case& input, const Prediction& prediction);

}  // namespace strata
