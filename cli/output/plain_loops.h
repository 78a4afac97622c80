#pragma once

// What `strata run` and `strata validate` say of convolutions that no library's engine computes.

#include <string>

#include <nlohmann/json.hpp>

#include "sim/timeline/execution.h"

namespace strata {

/// {"products": 3, "first_status": "..."}; of none, null.
nlohmann::ordered_json plain_loops_json(const PlainLoops& loops);

/// A line; empty where there are none.
std::string plain_loops_text(const PlainLoops& loops);

}  // namespace strata
