#pragma once

// What a prediction's compute time rests on, by what is computed: which ops were measured, and how
// much of the time is only estimated. Pure; thread-safe.

#include <string>
#include <vector>

#include "sim/study/case/predict.h"

namespace strata {

struct CostBasis {
  std::string op;  ///< the op's name (op.h)
  Phase phase = Phase::forward;
  CostSource source = CostSource::analytic;
  double share = 0;  ///< of the compute time of all devices, in what was simulated
};

/// The largest share first.
std::vector<CostBasis> cost_basis(const Case& input, const Prediction& prediction);

}  // namespace strata
