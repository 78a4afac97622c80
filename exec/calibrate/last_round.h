#pragma once

// What each device took for each thing in the round that was taken last. Things are told apart by
// the addresses of their keys, as Sweeps has them: layers of one shape have a key each. Not
// thread-safe.

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "sim/measure/runner.h"
#include "sim/profile/measured_cost.h"

namespace strata {

class LastRound {
 public:
  explicit LastRound(std::size_t devices) : sums_(devices), waits_(devices) {}

  /// A new round begins: all that was added is forgotten.
  void begin();
  void add(std::size_t device, const CostKey* key, Seconds time);
  void add_wait(std::size_t device, const Wait& wait) { waits_[device].push_back(wait); }
  /// By device and key, the mean of what was added. Precondition: something was, of each.
  RoundTimes times(std::span<const CostKey* const> keys) const;

 private:
  struct Sum {
    double seconds = 0;
    std::size_t count = 0;
  };
  std::vector<std::map<const CostKey*, Sum>> sums_;  // by device
  std::vector<std::vector<Wait>> waits_;             // by device
};

}  // namespace strata
