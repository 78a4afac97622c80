#pragma once

// What multiplies matrices: convolutions and products of matrices on dense tensors, on a seat's
// stream. Two bodies are linked to it: cuDNN and cuBLAS (products_libraries.cpp), and plain loops
// (products_loops.cu) for the host that stands for GPUs in tests.
//
// Activations lie n d h w c, filters (outputs, taps, inputs of a group), all in the seat's type;
// sums are fp32.

#include <cstdint>
#include <memory>

#include "exec/cuda/streams/seat.h"
#include "exec/runtime/convolution_shape.h"

namespace strata::cuda {

/// Which of a convolution's three tensors is written: the output, the input's gradient or the
/// filter's.
enum class Direction : std::uint8_t { forward, data, weights };

/// Of one convolution; x, w and y are their gradients where they are written, or where y is read.
struct ConvolutionMemory {
  void* input = nullptr;   ///< samples, what the axes read of each dim, in_channels
  void* filter = nullptr;  ///< out_channels, taps, groups.inputs
  void* output = nullptr;  ///< samples, what the axes make in each dim, out_channels
  void* workspace = nullptr;
};

/// A convolution in one direction, planned and tuned. What it writes, it writes whole.
class ConvolutionProduct {
 public:
  /// The seat must outlive it; it is told where the product is plain loops, since a library has no
  /// engine for it. Throws EnvironmentError where a library fails.
  ConvolutionProduct(Seat& seat, const ConvolutionShape& shape, Direction direction);
  ~ConvolutionProduct();

  /// Bytes to be lent to each run.
  std::int64_t workspace() const;
  void run(const ConvolutionMemory& memory);

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

/// rows x columns, as a product needs it; it lies row by row, or `transposed`: column by column.
struct Matrix {
  const void* data = nullptr;
  std::int64_t rows = 0, columns = 0;
  bool transposed = false;
};

/// product = a b, row by row, of type `to`, or added to what lies there; a and b are of the seat's
/// type.
void multiply(Seat& seat, const Matrix& a, const Matrix& b, void* product, Type to,
              bool adds = false);

/// A product by each library, on its own; nothing where none is linked. Throws EnvironmentError
/// where a library fails, or leaves even these to plain loops.
void try_products(Seat& seat);

}  // namespace strata::cuda
