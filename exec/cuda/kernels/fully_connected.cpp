// A shard of a fully-connected layer: y = x w^T + b, where a row of x is a sample's features in the
// order c d h w.

#include "exec/cuda/kernels/column_sums.h"
#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/products/products.h"
#include "exec/cuda/tensor/channel_bias.h"
#include "exec/cuda/tensor/feature_rows.h"
#include "exec/cuda/tensor/filter_layout.h"
#include "sim/graph/regions.h"

namespace strata::cuda {
namespace {

class FullyConnectedKernel : public PhasedKernel {
 public:
  FullyConnectedKernel(Seat& seat, const ShardSpec& spec, const Box& input)
      : seat_(seat),
        sizes_(shard_parameters(*spec, spec.output)),
        samples_(input[Dim::n].size()),
        features_(volume(input) / samples_),
        outputs_(spec.output[Dim::c].size()),
        rows_(is_rows(input)) {
    if (seat.type() == Type::fp32) return;
    weights_ = LastingMemory(seat.gpu(), sizes_.weight * size_of(seat.type()));
  }

 private:
  void forward(const Operands& operands) override {
    if (weights_.data() != nullptr) {
      convert(operands.parameters, weights_.data(), sizes_.weight, seat_.type(), stream());
    }
    const Region& y = operands.output;
    const Matrix w_transposed{kept_weights(operands), features_, outputs_, true};
    multiply(seat_, {features(operands), samples_, features_}, w_transposed, y.data, seat_.type());
    if (sizes_.bias > 0) {
      add_bias(y, operands.parameters + sizes_.weight, seat_.type(), stream());
    }
  }

  /// dx = dy w
  void backward_data(const Operands& operands) override {
    const Region& dx = operands.input_gradients[0];
    void* const rows = rows_ ? dx.data : between();
    multiply(seat_, {operands.output_gradient.data, samples_, outputs_},
             {kept_weights(operands), outputs_, features_}, rows, seat_.type());
    if (!rows_) from_rows(rows, dx, seat_.type(), stream());
  }

  /// dw = dy^T x
  void backward_weights(const Operands& operands) override {
    float* const gradient = operands.parameter_gradients;
    const Region& dy = operands.output_gradient;
    multiply(seat_, {dy.data, outputs_, samples_, true}, {features(operands), samples_, features_},
             gradient, Type::fp32);
    if (sizes_.bias > 0) column_sums(dy, gradient + sizes_.weight, seat_);
  }

  void update(const Operands& operands) override { sgd(operands, sizes_.total(), seat_); }

  const void* kept_weights(const Operands& operands) const {
    return weights_.data() == nullptr ? operands.parameters : weights_.data();
  }

  void* between() { return seat_.scratch(samples_ * features_ * size_of(seat_.type())); }

  const void* features(const Operands& operands) {
    const Region& x = operands.inputs[0];
    if (rows_) return x.data;
    void* const rows = between();
    to_rows(x, rows, seat_.type(), stream());
    return rows;
  }

  Stream& stream() { return seat_.stream(); }

  Seat& seat_;
  Parameters sizes_;
  std::int64_t samples_, features_, outputs_;
  bool rows_;              ///< the input's tensor lies as rows
  LastingMemory weights_;  ///< in the tensors' type, where that is another
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const FullyConnected&) {
  return std::make_unique<FullyConnectedKernel>(seat, spec, spec.inputs[0][0]);
}

}  // namespace strata::cuda
