#pragma once

// What every kind of pooling shares: each spatial dim says on its own which inputs an output taps,
// so a window is a product of three runs. A kernel finds them in small tables in the GPU's memory.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/cuda/streams/seat.h"
#include "exec/runtime/kernel.h"
#include "sim/graph/op.h"

namespace strata::cuda {

/// Of an output: it taps begin, begin + step, ... `count` of them.
struct Taps {
  std::int32_t begin = 0, count = 0;
  float share = 0;  ///< 1 / this dim's part of an average's divisor
};
/// Of an input: the outputs that may tap it, one after the other.
struct Readers {
  std::int32_t begin = 0, end = 0;
};

/// One spatial dim of a shard, in local coordinates.
class PoolDim {
 public:
  /// `step` between taps, `inputs` in the shard's input box.
  PoolDim(std::int64_t step, std::int64_t inputs)
      : step_(step), readers_(static_cast<std::size_t>(inputs)) {}

  /// The next output: taps at begin, begin + step, ... before end; and what its part of an average
  /// is divided by.
  void add(Interval taps, std::int64_t divisor);

  std::int64_t step() const { return step_; }
  const std::vector<Taps>& taps() const { return taps_; }
  const std::vector<Readers>& readers() const { return readers_; }
  std::int64_t most_taps() const;

 private:
  std::int64_t step_;
  std::vector<Taps> taps_;
  std::vector<Readers> readers_;
};

/// By d, h, w.
std::unique_ptr<Kernel> make_pool(Seat& seat, PoolMode mode, const std::array<PoolDim, 3>& dims);

}  // namespace strata::cuda
