#pragma once

// Products to try the libraries with: a convolution of 3 x 3 taps over square images, and a product
// of square matrices, each in memory of its own. Not thread-safe.

#include <array>
#include <cstddef>
#include <cstdint>

#include "exec/cuda/products/products.h"
#include "exec/cuda/streams/seat.h"

namespace strata::cuda {

/// As many channels out as in; the output is as large as the input.
ConvolutionShape square_convolution(std::int64_t samples, std::int64_t channels,
                                    std::int64_t image);

/// Bytes of a convolution's input, filter and output, each a multiple of 512.
using TensorBytes = std::array<std::int64_t, 3>;
TensorBytes tensor_bytes(const ConvolutionShape& shape, Type type);
/// The three one after another, then the workspace.
ConvolutionMemory convolution_memory(std::byte* data, const TensorBytes& bytes);

/// Zeros for a convolution's tensors and a workspace.
class ConvolutionTensors {
 public:
  /// Waits for the stream. Throws EnvironmentError where there is no room.
  ConvolutionTensors(Seat& seat, const ConvolutionShape& shape, std::int64_t workspace);
  ConvolutionMemory lent() const {
    return convolution_memory(static_cast<std::byte*>(memory_.data()), bytes_);
  }

 private:
  TensorBytes bytes_;
  LastingMemory memory_;
};

/// Zeros for two matrices and their product.
class SquareMatrices {
 public:
  /// The seat must outlive it. Waits for the stream. Throws EnvironmentError where there is no
  /// room.
  SquareMatrices(Seat& seat, std::int64_t rows);
  /// Waits for the product.
  void multiply();

 private:
  Seat& seat_;
  std::int64_t rows_, bytes_;  // of one
  LastingMemory memory_;
};

}  // namespace strata::cuda
