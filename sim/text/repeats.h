#pragma once

// Where a list repeats itself: blocks of a network, rows of a table. Pure; thread-safe.

#include <cstddef>
#include <span>
#include <vector>

namespace strata {

/// Elements [first, first + length), which stand `times` times one after another.
struct Repeat {
  std::size_t first = 0;
  std::size_t length = 0;
  std::size_t times = 1;
  std::size_t end() const { return first + length * times; }
};

/// From the left, disjoint: of several at one place the longest in all, then the shortest block.
/// Elements are equal where their keys are.
std::vector<Repeat> find_repeats(std::span<const std::size_t> keys, std::size_t least_times);

}  // namespace strata
