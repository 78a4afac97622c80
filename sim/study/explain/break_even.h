#pragma once

// What would have to be true for another strategy to be the faster one: links or devices so many
// times as fast, another batch, or no overlap. Found by simulating both in the changed case.
// Thread-safe.

#include <atomic>
#include <string>
#include <vector>

#include "sim/study/case/predict.h"

namespace strata {

/// A change of the case after which the slower of two strategies is the faster one.
struct BreakEven {
  std::string key;    ///< a what-if's (WhatIfs), or "batch"
  std::string value;  ///< "3.4x", "off", or the batch of all devices
  Seconds step, other_step;

  bool operator==(const BreakEven&) const = default;
};

/// What is looked at, each by itself: the bandwidth of each kind of links, the speed of all
/// devices, the batch, all between 1/16 and 16 times what they are, and overlap.
std::vector<std::string> break_even_keys(const Case& input);

/// By other strategy: for each key the change nearest to the case as it is, where there is one;
/// factors have two digits, those of the batch are powers of two. `request`: of the case. Throws
/// Cancelled.
std::vector<std::vector<BreakEven>> break_evens(const Case& input, const CaseRequest& request,
                                                const Strategy& strategy,
                                                const std::vector<Strategy>& others,
                                                const std::atomic<bool>* cancelled = nullptr);

}  // namespace strata
