#pragma once

// Times of one thing, taken in turns with others. Values; not thread-safe.

#include <cstdint>
#include <vector>

#include "sim/base/units.h"
#include "sim/study/runner.h"

namespace strata {

struct Summary {
  Seconds median;
  Seconds spread;  ///< half the distance between the quartiles
  std::int64_t count = 0;
};

class Samples {
 public:
  void add(Seconds seconds, bool calm);
  /// Precondition: there is a sample.
  Summary summary(Sampled which) const;

 private:
  std::vector<double> calm_, all_;
};

}  // namespace strata
