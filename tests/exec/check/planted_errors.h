#pragma once

// Mistakes that a cut can make, each in one place of ResNet-50 on two devices.

#include <string>
#include <vector>

#include "sim/plan/lower.h"
#include "tests/exec/check/planted_backend.h"

namespace strata::testing {

struct PlantedError {
  std::string name;
  std::string strategy;  ///< rows, data, owt
  SyncAlgorithm sync;
  Planted planted;
  std::string first = {};  ///< what must be found first, of which step; empty: anything
};
/// They keep what they remember of a step among themselves: made anew for each case.
std::vector<PlantedError> planted_errors();

}  // namespace strata::testing
