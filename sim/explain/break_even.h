#pragma once

// What would have to be true for another strategy to be the faster one: links or devices so many
// times as fast, another batch, or no overlap. Found by simulating both, with these very cuts, in
// the changed case. Thread-safe.

#include <atomic>
#include <string>
#include <vector>

#include "sim/case/predict.h"

namespace strata {

/// Of a step: a smaller difference between two strategies is none that anybody would see.
inline constexpr double kVisible = 0.005;

/// A change of the case after which the slower of two strategies is the faster one, by a margin
/// that can be seen, and fits.
struct BreakEven {
  std::string key;    ///< a what-if's (WhatIfs), or "batch"
  std::string value;  ///< "3.4x", "off", or the batch of all devices
  Seconds step, other_step;

  bool operator==(const BreakEven&) const = default;
};

struct BreakEvens {
  std::vector<std::vector<BreakEven>> turns;  ///< by other strategy, at most one for each key
  bool all_tried = true;                      ///< else simulating them would have taken too long
};

/// A strategy with its step in the case as it is, and what simulating that took (Scored::work).
struct Contender {
  Strategy strategy;
  Seconds step;
  std::size_t work = 0;
};

/// The kinds of the links that limit something, in their order; at most four.
std::vector<std::string> limiting_link_kinds(const Cluster& cluster);

/// What is looked at, each by itself: the bandwidth of each kind of links, the speed of all
/// devices, the batch, at 2, 4, 8 and 16 times what they are and parts of it; and overlap.
std::vector<std::string> break_even_keys(const Case& input);

/// For each key the first change at which the order has turned, the nearest first, and between that
/// and the one before the nearest that was found by halving: factors of two digits, batches by
/// powers of two. `request`: of the case. Throws Cancelled.
BreakEvens break_evens(const Case& input, const CaseRequest& request, const Contender& own,
                       const std::vector<Contender>& others,
                       const std::atomic<bool>* cancelled = nullptr);

}  // namespace strata
