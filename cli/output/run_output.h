#pragma once

// What `strata run` says of a run.

#include <string>

#include "cli/output/case_header.h"
#include "sim/json/run_json.h"
#include "sim/train/run.h"

namespace strata {

std::string run_text(const RunNames& names, const RunReport& report);

/// Where costs that were not the user's come from, and how old they are.
std::string costs_text(const CostsUsed& costs);

/// What differs by more than is allowed, and where; empty where nothing does.
std::string mismatch_text(const RunReport& report);

/// Why nothing can be said of that; empty where it can.
std::string unjudged(const RunReport& report);

}  // namespace strata
