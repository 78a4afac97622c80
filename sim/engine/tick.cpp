#include "sim/engine/tick.h"

#include <cassert>
#include <cmath>

namespace strata {

Tick to_ticks(Seconds seconds) {
  const double ticks = seconds.value * kTicksPerSecond;
  assert(ticks >= 0 && ticks <= static_cast<double>(kMaxTick));
  return static_cast<Tick>(std::llround(ticks));
}

}  // namespace strata
