#pragma once

// What a step keeps in each device's memory over time, from the Plan's buffers and a Timeline.

#include <vector>

#include "sim/timeline/timeline.h"

namespace strata {

struct MemoryUse {
  Seconds at;
  Bytes bytes;  ///< from `at` on
  bool operator==(const MemoryUse&) const = default;
};

/// The memory in use on every device during one step, in order of time; parameters are in from the
/// start.
std::vector<std::vector<MemoryUse>> memory_curves(const Plan& plan, const Timeline& timeline,
                                                  std::size_t step);

/// The most of each curve.
std::vector<Bytes> peak_memory(const Plan& plan, const Timeline& timeline, std::size_t step);

}  // namespace strata
