#pragma once

// What the steps keep in each device's memory over time, from the Plan's buffers and a Timeline.

#include <vector>

#include "sim/timeline/timeline.h"

namespace strata {

struct MemoryUse {
  Seconds at;
  Bytes bytes;  ///< from `at` on
  bool operator==(const MemoryUse&) const = default;
};

/// The memory in use on every device through all steps, in order of time; parameters are in from
/// the start.
std::vector<std::vector<MemoryUse>> memory_curves(const Plan& plan, const Timeline& timeline);

/// The most of each curve.
std::vector<Bytes> peak_memory(const Plan& plan, const Timeline& timeline);

}  // namespace strata
