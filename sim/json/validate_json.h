#pragma once

// Makes JSON of predicted beside measured steps. Pure; thread-safe.

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sim/study/validate/validate.h"

namespace strata {

/// `machine`: what it is, in words. Precondition: the report has a case.
nlohmann::ordered_json validate_json(const ValidateReport& report, const std::string& machine,
                                     const ValidateRequest& request);

}  // namespace strata
