#include "exec/cuda/products/sample_products.h"

#include "exec/cuda/tensor/filter_layout.h"

namespace strata::cuda {
namespace {

std::int64_t rounded(std::int64_t bytes) {
  return (bytes + 511) / 512 * 512;
}

}  // namespace

ConvolutionShape square_convolution(std::int64_t samples, std::int64_t channels,
                                    std::int64_t image) {
  const ConvolutionAxis h{Dim::h, image, image, 3, 1, 1, 1, 1};
  const ConvolutionAxis w{Dim::w, image, image, 3, 1, 1, 1, 1};
  const ConvolutionGroups groups{1, channels, channels, channels, channels, 0};
  return {samples, channels, channels, {h, w}, groups, false};
}

TensorBytes tensor_bytes(const ConvolutionShape& shape, Type type) {
  std::int64_t input = shape.samples * shape.in_channels, filter = filter_size(shape);
  std::int64_t output = shape.samples * shape.out_channels;
  for (const ConvolutionAxis& axis : shape.axes) input *= axis.input, output *= axis.output;
  const std::int64_t size = size_of(type);
  return {rounded(input * size), rounded(filter * size), rounded(output * size)};
}

ConvolutionMemory convolution_memory(std::byte* data, const TensorBytes& bytes) {
  const auto [input, filter, output] = bytes;
  return {data, data + input, data + input + filter, data + input + filter + output};
}

ConvolutionTensors::ConvolutionTensors(Seat& seat, const ConvolutionShape& shape,
                                       std::int64_t workspace)
    : bytes_(tensor_bytes(shape, seat.type())),
      memory_(seat.gpu(), bytes_[0] + bytes_[1] + bytes_[2] + workspace) {
  clear(memory_.data(), memory_.bytes(), seat.stream());
  seat.stream().finish();
}

SquareMatrices::SquareMatrices(Seat& seat, std::int64_t rows)
    : seat_(seat),
      rows_(rows),
      bytes_(rows * rows * size_of(seat.type())),
      memory_(seat.gpu(), 3 * bytes_) {
  clear(memory_.data(), memory_.bytes(), seat.stream());
  seat.stream().finish();
}

void SquareMatrices::multiply() {
  auto* const data = static_cast<std::byte*>(memory_.data());
  cuda::multiply(seat_, {data, rows_, rows_}, {data + bytes_, rows_, rows_}, data + 2 * bytes_,
                 seat_.type());
  seat_.stream().finish();
}

}  // namespace strata::cuda
