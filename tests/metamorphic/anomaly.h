#pragma once

// Anomalies of list scheduling (Graham 1969): where something ends sooner, a device may begin with
// another task than before, or flows may meet on a link, and the step may end later.

#include "tests/metamorphic/trial.h"

namespace strata::testing {

/// By how much a step may get longer where something else gets shorter but the order of tasks, or
/// which flows share a link, changes too: of the longer step.
constexpr double kMostOfAnomalies = 0.35;

/// Whether a step of a faster machine, on which everything may take `factor` of the time, is longer
/// than that of the step for no other reason: where nothing begins before `factor` of when it did
/// on the slower one, everything ends no later than `factor` of when it did there. So the schedule
/// of the slower machine is one of the faster machine's, which does not find it.
bool is_anomaly(const Answer& slower, const Answer& faster, double factor = 1);

}  // namespace strata::testing
