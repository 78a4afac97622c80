#pragma once

// What the steps keep in each device's memory over time, from the Plan's buffers and a Timeline.

#include <vector>

#include "sim/timeline/timeline.h"

namespace strata {

/// From the start of the first task that uses a buffer to the end of the last.
struct Lifetime {
  Seconds from, until;
  bool operator==(const Lifetime&) const = default;
};

/// In one step, of a buffer that does not last.
Lifetime lifetime(const Plan& plan, const Timeline& timeline, std::size_t step, BufferId buffer);

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
