#pragma once

// The times of all that is measured. Not thread-safe.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exec/calibrate/samples.h"
#include "sim/profile/measured_cost.h"

namespace strata {

class Record {
 public:
  void add(const CostKey& key, const Sample& sample) { samples_[key].add(sample); }

  /// By sweep: how many times longer than its median a thing took in it, of all things and devices
  /// the median; none where too few were taken to say so.
  std::vector<std::optional<double>> paces() const;
  /// From now on those sweeps are calm whose pace is usual (usual_times.h) among the paces that are
  /// known, or is not known, and no others. How many were not, of how many.
  Disturbance judge_by_pace();
  /// The same, told by the caller for each device and sweep.
  template <class IsCalm>
  void judge(const IsCalm& is_calm) {
    for (auto& [key, samples] : samples_) samples.judge(is_calm);
  }
  /// Medians, spreads and counts.
  std::vector<MeasuredCost> rows(Sampled which, const std::string& source) const;

 private:
  std::map<CostKey, Samples> samples_;
};

}  // namespace strata
