#pragma once

// What every kind of pooling shares: each spatial dim says on its own which inputs an output taps,
// so a window is a product of three runs.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/cpu/loops.h"
#include "exec/runtime/kernel.h"
#include "sim/graph/op.h"

namespace strata::cpu {

/// One spatial dim of a shard, in local coordinates, as PoolAxis says.
class PoolDim {
 public:
  /// `step` between taps, `inputs` in the shard's input box.
  PoolDim(std::int64_t step, std::int64_t inputs) : step_(step), readers_(inputs) {}

  /// The next output, with what its part of an average is divided by.
  void add(Interval taps, std::int64_t divisor);
  /// Valid while this lives and does not change.
  PoolAxis axis() const;

 private:
  std::int64_t step_;
  std::vector<Interval> taps_, readers_;
  std::vector<float> share_;
};

/// By d, h, w.
std::unique_ptr<Kernel> make_pool(PoolMode mode, std::array<PoolDim, 3> dims);

}  // namespace strata::cpu
