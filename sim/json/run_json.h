#pragma once

// Makes JSON of a training run. Pure; thread-safe.

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sim/case/case.h"
#include "sim/train/run.h"

namespace strata {

/// What a report does not know of how it came about.
struct RunNames {
  std::string devices, machine;
  Training training;
};

nlohmann::ordered_json run_json(const RunNames& names, const RunReport& report);

}  // namespace strata
