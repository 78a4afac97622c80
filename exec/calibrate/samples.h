#pragma once

// Times of one thing, taken in turns with others. Values; not thread-safe.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/units.h"
#include "sim/measure/runner.h"

namespace strata {

struct Summary {
  Seconds median;
  Seconds spread;  ///< half the distance between the quartiles, each time at its sweep's pace
  std::int64_t count = 0;
};

/// One time; what was taken together has one sweep.
struct Sample {
  double seconds = 0;
  std::size_t sweep = 0;
  std::size_t device = 0;
  bool calm = true;
};

class Samples {
 public:
  void add(const Sample& sample) { all_.push_back(sample); }
  std::span<const Sample> all() const { return all_; }
  /// Says anew of each whether it was calm.
  template <class IsCalm>
  void judge(const IsCalm& is_calm) {
    for (Sample& sample : all_) sample.calm = is_calm(sample);
  }

  /// `paces`: by sweep, how many times longer than their medians things took in it; the spread is
  /// of what is left without that, since a machine that is slow as a whole makes nobody wait for
  /// another. Empty: 1 for all. Precondition: there is a sample.
  Summary summary(Sampled which, std::span<const double> paces = {}) const;

 private:
  std::vector<Sample> all_;
};

}  // namespace strata
