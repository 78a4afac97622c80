#pragma once

// What mutators draw from a seed of libFuzzer's. Deterministic.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>

namespace strata {

class RandomChoice {
 public:
  explicit RandomChoice(std::uint32_t seed) : random_(seed) {}

  /// From 0 on; 0 where the count is 0 or 1.
  std::uint32_t below(std::size_t count) {
    return static_cast<std::uint32_t>(random_() % std::max<std::size_t>(1, count));
  }
  bool one_in(std::size_t count) { return below(count) == 0; }
  /// Of a range that is not empty.
  template <class Range>
  decltype(auto) any_of(const Range& range) {
    return range[below(std::size(range))];
  }

 private:
  std::minstd_rand random_;
};

}  // namespace strata
