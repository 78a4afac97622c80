#pragma once

// In which lane of its device each task of a timeline is drawn, so that the slices of a lane don't
// overlap. Values and pure functions; thread-safe.

#include <cstddef>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/timeline/timeline.h"

namespace strata {

inline constexpr std::size_t kDeviceLane = 1;      ///< whatever occupies the device
inline constexpr std::size_t kSyncLane = 2;        ///< collectives of parameters
inline constexpr std::size_t kStatisticsLane = 3;  ///< and of batch norm's sums
inline constexpr std::size_t kFirstArrivalLane = 4;

struct Lanes {
  std::vector<std::size_t> of;        ///< by step, then by task
  std::vector<std::size_t> arrivals;  ///< how many, by device: those from kFirstArrivalLane on
  bool operator==(const Lanes&) const = default;
};

/// Transfers that arrive at one device at the same time take the first lanes that are free.
Lanes assign_lanes(const Plan& plan, const Timeline& timeline);

}  // namespace strata
