#pragma once

// What every kind of pooling shares: each spatial dim says on its own which inputs an output taps,
// so a window is a product of three runs. Pure; thread-safe.

#include <array>
#include <cstdint>
#include <vector>

#include "exec/runtime/kernel.h"
#include "sim/graph/op.h"

namespace strata {

/// One spatial dim of a shard, counted from where its input and its output begin.
struct PoolWindows {
  std::int64_t step = 1;          ///< between taps
  std::vector<Interval> taps;     ///< by output: it taps begin, begin + step, ... before end
  std::vector<float> shares;      ///< by output: 1 / this dim's part of an average's divisor
  std::vector<Interval> readers;  ///< by input: the outputs that may tap it, one after the other
};

/// By d, h, w.
std::array<PoolWindows, 3> pool_windows(const ShardSpec& spec, const Pooling& op);
std::array<PoolWindows, 3> pool_windows(const ShardSpec& spec, const AdaptivePooling& op);

}  // namespace strata
