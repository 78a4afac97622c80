#pragma once

// What a user should know of a case's costs before trusting a prediction from them. Pure;
// thread-safe.

#include <string>
#include <vector>

#include "sim/case/predict.h"

namespace strata {

/// A sentence each, without a full stop: a data type that a kind of device has no arithmetic for,
/// rows that were measured while more or fewer devices of a host were busy than are here, opaque
/// ops, and settings that change nothing. Precondition: the case has a cost model for each device.
std::vector<std::string> cost_warnings(const Case& input);

}  // namespace strata
