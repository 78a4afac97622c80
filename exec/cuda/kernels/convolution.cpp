// A shard of a convolution: weights are brought into the products' form in each forward phase and
// kept for the backward ones; input that no window reaches is cut away.

#include <optional>

#include "exec/cuda/kernels/column_sums.h"
#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/products/products.h"
#include "exec/cuda/streams/scratch_pieces.h"
#include "exec/cuda/tensor/channel_bias.h"
#include "exec/cuda/tensor/filter_layout.h"
#include "sim/graph/regions.h"

namespace strata::cuda {
namespace {

/// What of its input box the shard reads.
Box read_part(const ConvolutionShape& shape, Box input) {
  for (const ConvolutionAxis& axis : shape.axes) {
    const std::int64_t begin = input[axis.dim].begin + axis.skip;
    input[axis.dim] = {begin, begin + axis.input};
  }
  return input;
}

class ConvolutionKernel : public PhasedKernel {
 public:
  ConvolutionKernel(Seat& seat, const ShardSpec& spec, const Convolution& op, const Box& input)
      : seat_(seat),
        shape_(local_shape(spec, op, input)),
        sizes_(shard_parameters(*spec, spec.output)),
        read_(read_part(shape_, input)),
        cropped_(read_ != input),
        forward_(std::in_place, seat, shape_, Direction::forward) {
    if (!is_filter(shape_, seat.type())) filter_ = LastingMemory(seat.gpu(), filter_bytes());
    if (!spec.training) return;
    weights_.emplace(seat, shape_, Direction::weights);
    if (!is_input((*spec.graph)[(*spec).inputs[0]].op)) made_data();
  }

 private:
  void forward(const Operands& operands) override {
    void* const filter = kept_filter(operands);
    if (filter != operands.parameters) {
      to_filter(shape_, operands.parameters, filter, seat_.type(), stream());
    }
    const auto [part, workspace] = scratch_pieces(seat_, {part_bytes(), forward_->workspace()});
    const Region& y = operands.output;
    forward_->run({part_of(operands.inputs[0], part), filter, y.data, workspace});
    if (sizes_.bias > 0) {
      add_bias(y, operands.parameters + sizes_.weight, seat_.type(), stream());
    }
  }

  void backward_data(const Operands& operands) override {
    const Region& dx = operands.input_gradients[0];
    ConvolutionProduct& product = made_data();
    const auto [part, workspace] = scratch_pieces(seat_, {part_bytes(), product.workspace()});
    product.run({cropped_ ? part : dx.data, kept_filter(operands), operands.output_gradient.data,
                 workspace});
    if (!cropped_) return;
    clear(dx.data, volume(dx.box) * size_of(seat_.type()), stream());
    copy_box(dx, {part, read_}, read_, seat_.type(), stream());
  }

  void backward_weights(const Operands& operands) override {
    float* const gradient = operands.parameter_gradients;
    // Plans are made for aligned memory; in a bucket, a layer's gradients may begin anywhere.
    const bool adds = operands.adds_parameter_gradients;
    const bool direct = !adds && is_filter(shape_, seat_.type()) && is_aligned(gradient);
    const auto [part, filter, workspace] =
        scratch_pieces(seat_, {part_bytes(), direct ? 0 : filter_bytes(), weights_->workspace()});
    weights_->run({part_of(operands.inputs[0], part), direct ? gradient : filter,
                   operands.output_gradient.data, workspace});
    if (!direct) from_filter(shape_, filter, gradient, adds, seat_.type(), stream());
    if (sizes_.bias > 0) {
      column_sums(operands.output_gradient, gradient + sizes_.weight, seat_, adds);
    }
  }

  void update(const Operands& operands) override {
    update_parameters(operands, sizes_.total(), seat_);
  }

  /// Gradients of the network's data are seldom wanted.
  ConvolutionProduct& made_data() {
    return data_ ? *data_ : data_.emplace(seat_, shape_, Direction::data);
  }

  void* kept_filter(const Operands& operands) const {
    return filter_.data() == nullptr ? operands.parameters : filter_.data();
  }
  std::int64_t filter_bytes() const { return filter_size(shape_) * size_of(seat_.type()); }
  std::int64_t part_bytes() const { return cropped_ ? volume(read_) * size_of(seat_.type()) : 0; }

  /// The input that is read, by itself in `part` where there is more.
  void* part_of(const Region& input, void* part) {
    if (!cropped_) return input.data;
    copy_box({part, read_}, input, read_, seat_.type(), stream());
    return part;
  }

  Stream& stream() { return seat_.stream(); }

  Seat& seat_;
  ConvolutionShape shape_;
  Parameters sizes_;
  Box read_;
  bool cropped_;
  LastingMemory filter_;  // null where the weights are one
  std::optional<ConvolutionProduct> forward_, data_, weights_;
};

/// All windows lie in the padding: nothing is read, and the output is the bias.
class ConvolutionInPadding : public PhasedKernel {
 public:
  ConvolutionInPadding(Seat& seat, const Parameters& sizes) : seat_(seat), sizes_(sizes) {}

 private:
  void forward(const Operands& operands) override {
    const float* bias = sizes_.bias > 0 ? operands.parameters + sizes_.weight : nullptr;
    fill_bias(operands.output, bias, seat_.type(), seat_.stream());
  }

  void backward_weights(const Operands& operands) override {
    float* const gradient = operands.parameter_gradients;
    const bool adds = operands.adds_parameter_gradients;
    if (!adds) clear(gradient, sizes_.weight * size_of(Type::fp32), seat_.stream());
    if (sizes_.bias == 0) return;
    column_sums(operands.output_gradient, gradient + sizes_.weight, seat_, adds);
  }

  void update(const Operands& operands) override {
    update_parameters(operands, sizes_.total(), seat_);
  }

  Seat& seat_;
  Parameters sizes_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Convolution& op) {
  const std::vector<Box>& inputs = spec.inputs[0];
  if (inputs.empty() || empty(inputs[0])) {
    return std::make_unique<ConvolutionInPadding>(seat, shard_parameters(*spec, spec.output));
  }
  return std::make_unique<ConvolutionKernel>(seat, spec, op, inputs[0]);
}

}  // namespace strata::cuda
