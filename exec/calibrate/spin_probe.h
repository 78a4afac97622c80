#pragma once

// Whether this thread had its core to itself: a loop of known length takes longer when something
// else ran. The machine's own times say what is longer than usual (usual_times.h).

#include "sim/base/units.h"

namespace strata {

/// How long the loop took just now: a fraction of a millisecond.
Seconds spin();

}  // namespace strata
