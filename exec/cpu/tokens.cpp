// Sequences of tokens: a plane's positions in a row, a learned token before them, one of them
// alone. All of it moves boxes.

#include <algorithm>

#include "exec/cpu/kernels.h"
#include "exec/cpu/move.h"

namespace strata::cpu {
namespace {

/// The same memory, `by` further along w.
Tensor shifted(const Region& region, std::int64_t by) {
  Box box = region.box;
  box[Dim::w] = {box[Dim::w].begin + by, box[Dim::w].end + by};
  return {static_cast<float*>(region.data), box};
}

class TokensKernel : public PhasedKernel {
 public:
  explicit TokensKernel(const ShardSpec& spec) : first_(spec.output[Dim::w].begin) {}

 private:
  void forward(const Operands& operands) override {
    const Tensor x(operands.inputs[0]), y(operands.output);
    each_run(y, x,
             [](float* token, std::int64_t step, const float* place, std::int64_t from_step,
                std::int64_t lanes, std::int64_t count) {
               for (std::int64_t p = 0; p < count; ++p) {
                 std::copy_n(place + p * from_step, lanes, token + p * step);
               }
             });
    zero_unused(y);
  }

  void backward_data(const Operands& operands) override {
    const Tensor dy(operands.output_gradient), dx(operands.input_gradients[0]);
    fill_zero(dx);
    each_run(dy, dx,
             [](const float* token, std::int64_t step, float* place, std::int64_t from_step,
                std::int64_t lanes, std::int64_t count) {
               for (std::int64_t p = 0; p < count; ++p) {
                 std::copy_n(token + p * step, lanes, place + p * from_step);
               }
             });
  }

  /// visit(first token, step, its place in the plane, step, channels, tokens) for channels that lie
  /// side by side in both.
  template <class Visit>
  void each_run(const Tensor& tokens, const Tensor& plane, const Visit& visit) const {
    const std::int64_t lanes = std::min(tokens.block(), plane.block());
    const std::int64_t channels = tokens.extents()[Dim::c];
    const auto at = [](const Tensor& x, std::int64_t n, std::int64_t c) {
      return x.block_at(n, c / x.block()) + c % x.block();
    };
    for (std::int64_t n = 0; n < tokens.extents()[Dim::n]; ++n) {
      for (std::int64_t c = 0; c < channels; c += lanes) {
        visit(at(tokens, n, c), tokens.block(), at(plane, n, c) + first_ * plane.block(),
              plane.block(), std::min(lanes, channels - c), tokens.plane());
      }
    }
  }

  std::int64_t first_;  ///< token of the shard
};

class ClassTokenKernel : public PhasedKernel {
 public:
  explicit ClassTokenKernel(const ShardSpec& spec)
      : channels_(spec.output[Dim::c].size()), has_it_(spec.output[Dim::w].begin == 0) {}

 private:
  void forward(const Operands& operands) override {
    const Tensor y(operands.output);
    if (operands.inputs[0].data != nullptr) {
      const Tensor x = shifted(operands.inputs[0], 1);
      copy(y, x, intersect(x.box(), y.box()));
    }
    each_lane(y, [&](std::int64_t c, float& lane) { lane = operands.parameters[c]; });
    zero_unused(y);
  }

  void backward_data(const Operands& operands) override {
    if (operands.input_gradients[0].data == nullptr) return;
    const Tensor dy(operands.output_gradient), dx = shifted(operands.input_gradients[0], 1);
    copy(dx, dy, intersect(dx.box(), dy.box()));
  }

  void backward_weights(const Operands& operands) override {
    float* const gradients = operands.parameter_gradients;
    if (!operands.adds_parameter_gradients) std::fill_n(gradients, channels_, 0.0F);
    each_lane(Tensor(operands.output_gradient),
              [&](std::int64_t c, const float& lane) { gradients[c] += lane; });
  }

  void update(const Operands& operands) override { update_parameters(operands, channels_); }

  template <class Visit>
  void each_lane(const Tensor& y, const Visit& visit) const {
    for (std::int64_t n = 0; has_it_ && n < y.extents()[Dim::n]; ++n) {
      for (std::int64_t c = 0; c < channels_; ++c) visit(c, y.at(n, c, 0, 0, 0));
    }
  }

  std::int64_t channels_;
  bool has_it_;  ///< the shard
};

class SelectTokenKernel : public PhasedKernel {
 public:
  explicit SelectTokenKernel(const SelectToken& op) : position_(op.position) {}

 private:
  void forward(const Operands& operands) override {
    const Tensor y = shifted(operands.output, position_);
    copy(y, Tensor(operands.inputs[0]), y.box());
  }

  void backward_data(const Operands& operands) override {
    const Tensor dx(operands.input_gradients[0]);
    const Tensor dy = shifted(operands.output_gradient, position_);
    fill_zero(dx);
    copy(dx, dy, dy.box());
  }

  std::int64_t position_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Tokens&) {
  return std::make_unique<TokensKernel>(spec);
}

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const ClassToken&) {
  return std::make_unique<ClassTokenKernel>(spec);
}

std::unique_ptr<Kernel> make_kernel(const ShardSpec&, const SelectToken& op) {
  return std::make_unique<SelectTokenKernel>(op);
}

}  // namespace strata::cpu
