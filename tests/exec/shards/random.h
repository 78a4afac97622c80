#pragma once

// What tests draw, from printed seeds.

#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace strata::shards {

using Random = std::mt19937_64;

/// Of [low, high].
inline std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// Runs `trial` once per seed; a failure names its seed.
template <class Trial>
void each_seed(std::uint64_t seeds, Trial trial) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    trial(random);
  }
}

}  // namespace strata::shards
