#pragma once

// What one phase of a shard has to do, whatever the device: arithmetic as matrix products, and the
// bytes that it must read and write at least. The roofline's input, and a report's. Values.

#include <cstdint>

#include "sim/base/units.h"
#include "sim/cost/cost_model.h"
#include "sim/graph/phase.h"

namespace strata {

/// `count` products of an m x k by a k x n matrix. With 0 of them there is no arithmetic to speak
/// of: the phase costs its bytes.
struct Gemm {
  std::int64_t count = 0;
  std::int64_t m = 0, n = 0, k = 0;

  /// One multiply-accumulate is two.
  constexpr Flops flops() const {
    return {2.0 * static_cast<double>(count) * static_cast<double>(m) * static_cast<double>(n) *
            static_cast<double>(k)};
  }
  bool operator==(const Gemm&) const = default;
};

struct PhaseWork {
  bool any = false;      ///< false: the op has no such phase, or it moves and computes nothing
  Bytes bytes;           ///< every tensor counted once per pass over it
  Gemm direct;           ///< of a convolution: the implicit product; count = groups of the shard
  bool grouped = false;  ///< a grouped convolution: libraries also compute it without products
  Gemm winograd;         ///< the same by Winograd's F(2x2, r x r); count 0 where it does not apply
  double winograd_gain = 1;  ///< (2r / (r+1))^2: by how much it multiplies less

  bool operator==(const PhaseWork&) const = default;
};

/// The phase of the shard. Convolutions and fully-connected layers have arithmetic; all other ops
/// are bound by memory (docs/profiles.md lists their passes).
PhaseWork phase_work(const ShardWork& work, Phase phase);

}  // namespace strata
