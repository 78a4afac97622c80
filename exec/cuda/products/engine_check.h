#pragma once

// Whether an engine of a library computes what a convolution is: its result is compared with that
// of plain loops at SampledElements. An engine may be wrong and report success. cuDNN 9.19 proposes
// its engine 1 first for a weights gradient with unequal padding in all five tests that failed on
// an H200, and in none of those looked at that passed. Not thread-safe.

#include <cstdint>
#include <memory>
#include <span>

#include "exec/cuda/products/direct_convolution.h"
#include "exec/cuda/streams/seat.h"

namespace strata::cuda {

/// How far engines may be off, of the largest value: they sum in other orders, and those for
/// tensor cores round what they multiply. One that misses a part of a sum is off by more.
constexpr double allowed_error(Precision precision) {
  if (precision == Precision::fp32) return 1e-3;
  return precision == Precision::tf32 ? 1e-2 : 3e-2;
}

class EngineCheck {
 public:
  /// Of a convolution in this memory, which is full of noise. The seat must outlive it.
  EngineCheck(Seat& seat, const ConvolutionShape& shape, Direction direction,
              const ConvolutionMemory& memory);

  /// Before a run: puts noise where the engine writes, so that what an earlier one left there is
  /// not taken for its result.
  void spoil();
  /// After it: the largest difference over the largest value; infinite where one is not a number.
  /// Waits for the stream.
  double error();

 private:
  Seat& seat_;
  ConvolutionShape shape_;
  Direction direction_;
  ConvolutionMemory memory_;
  std::int64_t written_;
  std::shared_ptr<void> sums_;  // the host's, for the GPU to write: of the loops, then the engine's
  std::span<float> wanted_, got_;
};

}  // namespace strata::cuda
