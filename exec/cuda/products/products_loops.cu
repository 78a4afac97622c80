// Products without any library.

#include "exec/cuda/products/direct_convolution.h"

namespace strata::cuda {

struct ConvolutionProduct::Body {
  Seat& seat;
  ConvolutionShape shape;
  Direction direction;
};

ConvolutionProduct::ConvolutionProduct(Seat& seat, const ConvolutionShape& shape,
                                       Direction direction)
    : body_(new Body{seat, shape, direction}) {
  seat.add_plain_loops("no library is linked");
}
ConvolutionProduct::~ConvolutionProduct() = default;

std::int64_t ConvolutionProduct::workspace() const {
  return 0;
}

void ConvolutionProduct::run(const ConvolutionMemory& memory) {
  Seat& seat = body_->seat;
  convolve_directly(body_->shape, body_->direction, memory, seat.type(), seat.stream());
}

void multiply(Seat& seat, const Matrix& a, const Matrix& b, void* product, Type to, bool adds) {
  multiply_directly(a, b, product, {seat.type(), to, adds}, seat.stream());
}

void try_products(Seat&) {}

}  // namespace strata::cuda
