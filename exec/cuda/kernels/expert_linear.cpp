// A shard of a linear layer of experts: y = x w^T + b of the slots of each expert and sample, which
// lie side by side, by the weight and the bias of the expert.

#include "exec/cuda/kernels/column_sums.h"
#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/products/products.h"
#include "exec/cuda/tensor/channel_bias.h"
#include "exec/cuda/tensor/filter_layout.h"
#include "sim/graph/regions.h"

namespace strata::cuda {
namespace {

class ExpertLinearKernel : public PhasedKernel {
 public:
  ExpertLinearKernel(Seat& seat, const ShardSpec& spec)
      : seat_(seat),
        weight_(shard_parameters(*spec, spec.output).weight),
        bias_(shard_parameters(*spec, spec.output).bias),
        samples_(spec.output[Dim::n].size()),
        experts_(spec.output[Dim::d].size()),
        outputs_(spec.output[Dim::c].size()),
        inputs_(spec.inputs[0][0][Dim::c].size()),
        rows_(volume(spec.output) / samples_ / experts_ / outputs_) {
    if (seat.type() == Type::fp32) return;
    weights_ = LastingMemory(seat.gpu(), weight_ * size_of(seat.type()));
  }

 private:
  void forward(const Operands& operands) override {
    if (weights_.data() != nullptr) {
      convert(operands.parameters, weights_.data(), weight_, seat_.type(), seat_.stream());
    }
    each_slots([&](std::int64_t n, std::int64_t e) {
      multiply(seat_, {slots(operands.inputs[0], n, e, inputs_), rows_, inputs_},
               {weight_of(operands, e), inputs_, outputs_, true},
               slots(operands.output, n, e, outputs_), seat_.type());
      if (bias_ == 0) return;
      add_bias(outputs_of(operands.output, n, e), operands.parameters + weight_ + e * outputs_,
               seat_.type(), seat_.stream());
    });
  }

  /// dx = dy w
  void backward_data(const Operands& operands) override {
    each_slots([&](std::int64_t n, std::int64_t e) {
      multiply(seat_, {slots(operands.output_gradient, n, e, outputs_), rows_, outputs_},
               {weight_of(operands, e), outputs_, inputs_},
               slots(operands.input_gradients[0], n, e, inputs_), seat_.type(),
               operands.adds_input_gradients);
    });
  }

  /// dw = dy^T x, db = the sum of dy, over all samples.
  void backward_weights(const Operands& operands) override {
    each_slots([&](std::int64_t n, std::int64_t e) {
      multiply(seat_, {slots(operands.output_gradient, n, e, outputs_), outputs_, rows_, true},
               {slots(operands.inputs[0], n, e, inputs_), rows_, inputs_},
               operands.parameter_gradients + e * outputs_ * inputs_, Type::fp32,
               n > 0 || operands.adds_parameter_gradients);
      if (bias_ == 0) return;
      column_sums(outputs_of(operands.output_gradient, n, e),
                  operands.parameter_gradients + weight_ + e * outputs_, seat_,
                  n > 0 || operands.adds_parameter_gradients);
    });
  }

  void update(const Operands& operands) override {
    update_parameters(operands, weight_ + bias_, seat_);
  }

  template <class Visit>
  void each_slots(const Visit& visit) const {
    for (std::int64_t n = 0; n < samples_; ++n) {
      for (std::int64_t e = 0; e < experts_; ++e) visit(n, e);
    }
  }
  void* slots(const Region& region, std::int64_t n, std::int64_t e, std::int64_t channels) const {
    const std::int64_t first = (n * experts_ + e) * rows_ * channels;
    return static_cast<std::byte*>(region.data) + first * size_of(seat_.type());
  }
  /// What an expert makes of a sample's slots.
  Region outputs_of(const Region& region, std::int64_t n, std::int64_t e) const {
    return {slots(region, n, e, outputs_), whole(Extents{{1, outputs_, 1, 1, rows_}})};
  }
  const void* weight_of(const Operands& operands, std::int64_t e) const {
    const std::int64_t first = e * outputs_ * inputs_;
    if (weights_.data() == nullptr) return operands.parameters + first;
    return static_cast<const std::byte*>(weights_.data()) + first * size_of(seat_.type());
  }

  Seat& seat_;
  std::int64_t weight_, bias_;  ///< parameters
  std::int64_t samples_, experts_, outputs_, inputs_;
  std::int64_t rows_;      ///< slots of one expert and sample
  LastingMemory weights_;  ///< in the tensors' type, where that is another
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const ExpertLinear&) {
  return std::make_unique<ExpertLinearKernel>(seat, spec);
}

}  // namespace strata::cuda
