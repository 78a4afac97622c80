#pragma once

// What one phase of a shard has to do, whatever the device: arithmetic as matrix products, and the
// bytes that it must read and write at least. The roofline's input, and a report's. Values;
// thread-safe.

#include <cstdint>
#include <span>

#include "sim/base/units.h"
#include "sim/geometry/geometry.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/phase.h"

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
  bool any = false;          ///< false: the op has no such phase, or it moves and computes nothing
  std::int32_t kernels = 1;  ///< that are launched one after another
  Bytes bytes;               ///< every tensor counted once per pass over it
  Gemm direct;           ///< of a convolution: the implicit product; count = groups of the shard
  bool grouped = false;  ///< a grouped convolution: libraries also compute it without products
  Gemm winograd;         ///< the same by Winograd's F(2x2, r x r); count 0 where it does not apply
  double winograd_gain = 1;  ///< (2r / (r+1))^2: by how much it multiplies less

  bool operator==(const PhaseWork&) const = default;
};

/// A shard as its op sees it. Views: they must outlive the call only.
struct ShardShape {
  Extents output;
  InputExtents inputs;    ///< of what the shard reads of each input (halo included, padding not)
  Parameters parameters;  ///< of this shard
  DType dtype = DType::fp32;
  KernelTraits kernels = {};

  /// Elements of all inputs, and of the output.
  std::int64_t in() const;
  std::int64_t out() const { return volume(output); }

  /// So many elements, each read or written once.
  PhaseWork elements(std::int64_t count) const;
  /// So many passes over tensors of the output's size: nothing for none.
  PhaseWork passes(std::int64_t count) const;
  /// The same, of the forward phase and of backward_data; other phases do nothing.
  PhaseWork passes(Phase phase, std::int64_t forward, std::int64_t backward) const;
  /// Of a layer with products: each of its three passes reads two of input, output and weight (or
  /// their gradients) and writes the third. Nothing where there is no product.
  PhaseWork product(Gemm direct) const;
};

}  // namespace strata
