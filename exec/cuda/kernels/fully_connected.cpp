// A shard of a fully-connected or a linear layer: y = x w^T + b. A row of x is a sample's features
// in the order c d h w, or the channels of a position.

#include <cassert>

#include "exec/cuda/kernels/column_sums.h"
#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/products/products.h"
#include "exec/cuda/tensor/channel_bias.h"
#include "exec/cuda/tensor/feature_rows.h"
#include "exec/cuda/tensor/filter_layout.h"
#include "sim/graph/regions.h"

namespace strata::cuda {
namespace {

/// x, as a product needs it.
struct FeatureRows {
  std::int64_t rows, features;
  bool lie_so;  ///< in the input's tensor
};

class RowsKernel : public PhasedKernel {
 public:
  RowsKernel(Seat& seat, const ShardSpec& spec, const FeatureRows& x)
      : seat_(seat),
        sizes_(shard_parameters(*spec, spec.output)),
        x_(x),
        outputs_(spec.output[Dim::c].size()) {
    if (seat.type() == Type::fp32) return;
    weights_ = LastingMemory(seat.gpu(), sizes_.weight * size_of(seat.type()));
  }

 private:
  void forward(const Operands& operands) override {
    if (weights_.data() != nullptr) {
      convert(operands.parameters, weights_.data(), sizes_.weight, seat_.type(), stream());
    }
    const Region& y = operands.output;
    const Matrix w_transposed{kept_weights(operands), x_.features, outputs_, true};
    multiply(seat_, features(operands), w_transposed, y.data, seat_.type());
    if (sizes_.bias > 0) {
      add_bias(y, operands.parameters + sizes_.weight, seat_.type(), stream());
    }
  }

  /// dx = dy w
  void backward_data(const Operands& operands) override {
    const Region& dx = operands.input_gradients[0];
    assert(x_.lie_so || !operands.adds_input_gradients);
    void* const rows = x_.lie_so ? dx.data : between();
    multiply(seat_, {operands.output_gradient.data, x_.rows, outputs_},
             {kept_weights(operands), outputs_, x_.features}, rows, seat_.type(),
             operands.adds_input_gradients);
    if (!x_.lie_so) from_rows(rows, dx, seat_.type(), stream());
  }

  /// dw = dy^T x
  void backward_weights(const Operands& operands) override {
    float* const gradient = operands.parameter_gradients;
    const Region& dy = operands.output_gradient;
    const bool adds = operands.adds_parameter_gradients;
    multiply(seat_, {dy.data, outputs_, x_.rows, true}, features(operands), gradient, Type::fp32,
             adds);
    if (sizes_.bias > 0) column_sums(dy, gradient + sizes_.weight, seat_, adds);
  }

  void update(const Operands& operands) override {
    update_parameters(operands, sizes_.total(), seat_);
  }

  const void* kept_weights(const Operands& operands) const {
    return weights_.data() == nullptr ? operands.parameters : weights_.data();
  }

  void* between() { return seat_.scratch(x_.rows * x_.features * size_of(seat_.type())); }

  Matrix features(const Operands& operands) {
    const Region& x = operands.inputs[0];
    if (x_.lie_so) return {x.data, x_.rows, x_.features};
    void* const rows = between();
    to_rows(x, rows, seat_.type(), stream());
    return {rows, x_.rows, x_.features};
  }

  Stream& stream() { return seat_.stream(); }

  Seat& seat_;
  Parameters sizes_;
  FeatureRows x_;
  std::int64_t outputs_;
  LastingMemory weights_;  ///< in the tensors' type, where that is another
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const FullyConnected&) {
  const Box& x = spec.inputs[0][0];
  const std::int64_t samples = x[Dim::n].size();
  return std::make_unique<RowsKernel>(seat, spec,
                                      FeatureRows{samples, volume(x) / samples, is_rows(x)});
}

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Linear&) {
  const Places x = places(spec.inputs[0][0]);
  return std::make_unique<RowsKernel>(seat, spec, FeatureRows{x.positions(), x.c, true});
}

}  // namespace strata::cuda
