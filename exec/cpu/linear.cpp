// A shard of a linear layer, as products of (positions, channels) by its weight, or of experts,
// each of which has some of the positions and a weight of its own. A weight (O, I) is brought into
// channel blocks part by part, small enough for the second cache; its gradient is made as it lies.

#include <algorithm>
#include <type_traits>

#include "exec/cpu/block_products.h"
#include "exec/cpu/blocked.h"
#include "exec/cpu/kernels.h"
#include "sim/graph/regions.h"

namespace strata::cpu {
namespace {

/// Rows and columns of a part of the weight, and rows of one of its gradient, that stay in the
/// second cache with what they meet; whole channel blocks.
constexpr std::int64_t kPart = 256, kGradientPart = 128;

using Begin = BlockedTensor::Begin;

class LinearKernel : public PhasedKernel {
 public:
  LinearKernel(const ShardSpec& spec, std::int64_t experts, bool bias)
      : products_(block_products()),
        lanes_(products_.lanes),
        sizes_(parameters_of_product(spec, bias)),
        samples_(spec.output[Dim::n].size()),
        outputs_(spec.output[Dim::c].size()),
        inputs_(spec.inputs[0][0][Dim::c].size()),
        experts_(experts),
        rows_(volume(spec.output) / samples_ / outputs_ / experts) {}

 private:
  void forward(const Operands& operands) override {
    const BlockedTensor x(Tensor(operands.inputs[0]), Scratch::input, Begin::with_values);
    const BlockedTensor y(Tensor(operands.output), Scratch::output, Begin::unwritten);
    const float* const bias = sizes_.bias > 0 ? operands.parameters + sizes_.weight : nullptr;
    each_part(outputs_, [&](std::int64_t e, std::int64_t o, std::int64_t outputs) {
      if (bias != nullptr) fill(y, e, o, outputs, bias + e * outputs_);
      each_part(inputs_, [&](std::int64_t i, std::int64_t inputs) {
        const ConstBlockMatrix weight = transposed(weight_of(operands, e), o, outputs, i, inputs);
        for (std::int64_t n = 0; n < samples_; ++n) {
          products_.product({rows_, inputs, outputs}, of(e, x.read(n, i / lanes_)), weight,
                            of(e, y.at(n, o / lanes_)), bias != nullptr || i > 0);
        }
      });
    });
    y.give();
  }

  void backward_data(const Operands& operands) override {
    const bool adds = operands.adds_input_gradients;
    const BlockedTensor dy(Tensor(operands.output_gradient), Scratch::output, Begin::with_values);
    const BlockedTensor dx(Tensor(operands.input_gradients[0]), Scratch::input,
                           adds ? Begin::with_values : Begin::unwritten);
    each_part(inputs_, [&](std::int64_t e, std::int64_t i, std::int64_t inputs) {
      each_part(outputs_, [&](std::int64_t o, std::int64_t outputs) {
        const ConstBlockMatrix weight = copied(weight_of(operands, e), o, outputs, i, inputs);
        for (std::int64_t n = 0; n < samples_; ++n) {
          products_.product({rows_, outputs, inputs}, of(e, dy.read(n, o / lanes_)), weight,
                            of(e, dx.at(n, i / lanes_)), adds || o > 0);
        }
      });
    });
    dx.give();
  }

  void backward_weights(const Operands& operands) override {
    const bool adds = operands.adds_parameter_gradients;
    const BlockedTensor x(Tensor(operands.inputs[0]), Scratch::input, Begin::with_values);
    const BlockedTensor dy(Tensor(operands.output_gradient), Scratch::output, Begin::with_values);
    float* const dw = operands.parameter_gradients;
    each_part<kGradientPart>(outputs_, [&](std::int64_t e, std::int64_t o, std::int64_t outputs) {
      products_.transposed_product({outputs, rows_, inputs_}, samples_,
                                   of(e, dy.read(0, o / lanes_)), dy.sample(), of(e, x.read(0, 0)),
                                   x.sample(), {dw + (e * outputs_ + o) * inputs_, inputs_, lanes_},
                                   adds);
      if (sizes_.bias > 0) sum(dy, e, o, outputs, dw + sizes_.weight + e * outputs_, adds);
    });
  }

  void update(const Operands& operands) override { update_parameters(operands, sizes_.total()); }

  template <std::int64_t part = kPart, class Visit>
  void each_part(std::int64_t count, const Visit& visit) const {
    if constexpr (std::is_invocable_v<Visit, std::int64_t, std::int64_t>) {
      for (std::int64_t at = 0; at < count; at += part) visit(at, std::min(part, count - at));
    } else {  // of each expert
      for (std::int64_t e = 0; e < experts_; ++e) {
        for (std::int64_t at = 0; at < count; at += part) visit(e, at, std::min(part, count - at));
      }
    }
  }

  /// The positions of an expert, of all.
  template <class Matrix>
  Matrix of(std::int64_t expert, Matrix all) const {
    all.data += expert * rows_ * all.row;
    return all;
  }
  const float* weight_of(const Operands& operands, std::int64_t expert) const {
    return operands.parameters + expert * outputs_ * inputs_;
  }

  float* part(std::int64_t columns, std::int64_t rows) const {
    const std::int64_t padded = (columns + lanes_ - 1) / lanes_ * lanes_;
    return scratch(Scratch::weights, static_cast<std::size_t>(padded * rows));
  }

  /// (inputs, outputs) of the weight, from (o, i) on.
  ConstBlockMatrix transposed(const float* weight, std::int64_t o, std::int64_t outputs,
                              std::int64_t i, std::int64_t inputs) const {
    float* const to = part(outputs, inputs);
    for (std::int64_t at = 0; at < outputs; at += lanes_) {
      products_.transpose(weight + (o + at) * inputs_ + i, inputs_, std::min(lanes_, outputs - at),
                          inputs, to + at * inputs);
    }
    return {to, lanes_, inputs * lanes_};
  }

  /// (outputs, inputs) of the weight.
  ConstBlockMatrix copied(const float* weight, std::int64_t o, std::int64_t outputs, std::int64_t i,
                          std::int64_t inputs) const {
    float* const to = part(inputs, outputs);
    products_.divide(weight + o * inputs_ + i, inputs_, outputs, inputs, to);
    return {to, lanes_, outputs * lanes_};
  }

  /// Each position of an expert has its bias.
  void fill(const BlockedTensor& y, std::int64_t expert, std::int64_t o, std::int64_t outputs,
            const float* bias) const {
    for (std::int64_t at = o; at < o + outputs; at += lanes_) {
      const std::int64_t count = std::min(lanes_, outputs_ - at);
      for (std::int64_t n = 0; n < samples_; ++n) {
        float* const first = of(expert, y.at(n, at / lanes_)).data;
        std::fill(std::copy_n(bias + at, count, first), first + lanes_, 0.0F);
        for (std::int64_t p = 1; p < rows_; ++p) {
          std::copy_n(first, lanes_, first + p * lanes_);
        }
      }
    }
  }

  /// Of all positions of an expert, the gradients of a part of its bias.
  void sum(const BlockedTensor& dy, std::int64_t expert, std::int64_t o, std::int64_t outputs,
           float* gradients, bool adds) const {
    for (std::int64_t at = o; at < o + outputs; at += lanes_) {
      const std::int64_t count = std::min(lanes_, outputs_ - at);
      float* const to = gradients + at;
      if (!adds) std::fill_n(to, count, 0.0F);
      for (std::int64_t n = 0; n < samples_; ++n) {
        const float* from = of(expert, dy.read(n, at / lanes_)).data;
        for (std::int64_t p = 0; p < rows_; ++p, from += lanes_) {
          for (std::int64_t k = 0; k < count; ++k) to[k] += from[k];
        }
      }
    }
  }

  const BlockProducts& products_;
  std::int64_t lanes_;
  Parameters sizes_;
  std::int64_t samples_, outputs_, inputs_;
  std::int64_t experts_, rows_;  ///< rows_: positions of each, of a sample
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Linear& op) {
  const Box& output = spec.output;
  const bool rows = volume(output) == output[Dim::n].size() * output[Dim::c].size();
  if (rows) return make_product_of_rows(spec, op.bias);
  return std::make_unique<LinearKernel>(spec, 1, op.bias);
}

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const ExpertLinear& op) {
  return std::make_unique<LinearKernel>(spec, spec.output[Dim::d].size(), op.bias);
}

}  // namespace strata::cpu
