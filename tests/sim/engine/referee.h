#pragma once

// The engine's referee: the same rules with no cleverness at all. Every event solves all rates
// anew by progressive filling over all links and all flows, in long double, and looks at every
// activity to see what happens next. Quadratic, for small workloads.

#include "sim/engine/engine.h"

namespace strata {

ActivityTimes simulate_naively(const Workload& workload);

}  // namespace strata
