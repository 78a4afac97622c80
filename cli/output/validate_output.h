#pragma once

// What `strata validate` says of its cases.

#include <optional>
#include <string>

#include "sim/study/validate/validate.h"

namespace strata {

/// `command`: as it was typed, for what it takes to judge the cases.
std::string validate_text(const ValidateReport& report, const std::string& machine,
                          const std::string& command);

/// What fails: bytes that are not the plan's, and predictions that are off, where a tolerance (by
/// which they were judged) is given; empty where nothing does.
std::string validate_failure(const ValidateReport& report, std::optional<double> tolerance);

/// Which cases can't be judged, and what it takes; empty where all can.
std::string unjudged(const ValidateReport& report, const std::string& command);

}  // namespace strata
