#pragma once

// Two strategies of a case beside each other. Thread-safe.

#include <vector>

#include "sim/case/predict.h"

namespace strata {

/// A strategy's layers whose cut is not the other's, and both predictions.
struct StrategyDiff {
  Prediction before, after;
  std::vector<LayerId> changed;
};
StrategyDiff diff(const Case& input, const Strategy& before, const Strategy& after);

}  // namespace strata
