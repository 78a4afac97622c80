#pragma once

// Whether this thread had its core to itself just now: a loop of known length takes longer when
// something else ran. Not thread-safe.

#include "sim/base/units.h"

namespace strata {

class SpinProbe {
 public:
  /// Spins for a fraction of a millisecond. False where that took over 5 % longer than the best so
  /// far.
  bool undisturbed();

 private:
  Seconds best_{1e9};
};

}  // namespace strata
