#pragma once

// A strategy with both of its times: what strategies are compared by. `memo`: of the case.
// Thread-safe.

#include <cstdint>

#include "sim/study/case/predict.h"

namespace strata {

/// Without simulation all but eq1 are 0.
struct Scored {
  Strategy strategy;
  Seconds eq1, step;
  Communication communication;
  Bytes peak_memory;  ///< of the device that needs the most

  bool simulated() const { return step.value > 0; }
};

/// Without Eq. 1; the peak only where `memory` is asked for, which costs time.
Scored score_simulated(const Case& input, const Strategy& strategy, CaseMemo* memo, bool memory);
/// Eq. 1 alone.
Scored score_eq1(const Case& input, const Strategy& strategy, CaseMemo* memo = nullptr);

CaseResult result_of(const Case& input, const Scored& scored);

/// Whether simulating it takes seconds at most. Channels cut over hundreds of devices send
/// everything everywhere, layer by layer: minutes, for a strategy that nobody would choose.
bool quick_to_simulate(const Graph& graph, const Strategy& strategy);

}  // namespace strata
