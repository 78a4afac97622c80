// Sequences of tokens: a plane's positions in a row, a learned token before them, one of them
// alone. All of it moves boxes.

#include "exec/cuda/kernels/kernels.h"

namespace strata::cuda {
namespace {

/// The same memory, `by` further along w.
Region shifted(Region region, std::int64_t by) {
  Interval& w = region.box[Dim::w];
  w = {w.begin + by, w.end + by};
  return region;
}

void clear_region(const Region& region, Seat& seat) {
  clear(region.data, volume(region.box) * size_of(seat.type()), seat.stream());
}

// A plane lies as its tokens do.
class TokensKernel : public PhasedKernel {
 public:
  explicit TokensKernel(Seat& seat) : seat_(seat) {}

 private:
  static Region in_a_row(Region plane) {
    const Places size = places(plane.box);
    plane.box[Dim::d] = plane.box[Dim::h] = {0, 1};
    plane.box[Dim::w] = {0, size.d * size.h * size.w};
    return plane;
  }

  void forward(const Operands& operands) override {
    const Region& y = operands.output;
    copy_box(y, in_a_row(operands.inputs[0]), y.box, seat_.type(), seat_.stream());
  }

  void backward_data(const Operands& operands) override {
    const Region dx = in_a_row(operands.input_gradients[0]);
    const Region& dy = operands.output_gradient;
    if (dx.box != dy.box) clear_region(dx, seat_);
    copy_box(dx, dy, dy.box, seat_.type(), seat_.stream());
  }

  Seat& seat_;
};

/// A thread has a channel of one sample.
template <class T>
struct PutToken {
  Tensor<T> y;
  const float* token;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient sample(i, y.size.c);
    y.at({sample.whole, 0, 0, 0, sample.rest}) = T(token[sample.rest]);
  }
};

template <class T>
struct SumTokens {
  Tensor<const T> dy;
  bool has_token;  ///< among its positions
  bool adds;
  float* gradients;

  STRATA_ANYWHERE void operator()(std::int64_t channel) const {
    float sum = adds ? gradients[channel] : 0;
    for (std::int64_t n = 0; has_token && n < dy.size.n; ++n) {
      sum += static_cast<float>(dy.at({n, 0, 0, 0, channel}));
    }
    gradients[channel] = sum;
  }
};

template <class T>
class ClassTokenKernel : public PhasedKernel {
 public:
  ClassTokenKernel(Seat& seat, const ShardSpec& spec)
      : seat_(seat),
        channels_(spec.output[Dim::c].size()),
        has_token_(spec.output[Dim::w].begin == 0) {}

 private:
  void forward(const Operands& operands) override {
    const Region& y = operands.output;
    if (operands.inputs[0].data != nullptr) {
      const Region x = shifted(operands.inputs[0], 1);
      copy_box(y, x, intersect(x.box, y.box), seat_.type(), seat_.stream());
    }
    if (!has_token_) return;
    each(seat_.stream(), y.box[Dim::n].size() * channels_,
         PutToken<T>{Tensor<T>(y), operands.parameters});
  }

  void backward_data(const Operands& operands) override {
    const Region& dx = operands.input_gradients[0];
    if (dx.data == nullptr) return;
    const Region to = shifted(dx, 1);
    const Box common = intersect(to.box, operands.output_gradient.box);
    if (common != to.box) clear_region(dx, seat_);
    copy_box(to, operands.output_gradient, common, seat_.type(), seat_.stream());
  }

  void backward_weights(const Operands& operands) override {
    each(seat_.stream(), channels_,
         SumTokens<T>{Tensor<const T>(operands.output_gradient), has_token_,
                      operands.adds_parameter_gradients, operands.parameter_gradients});
  }

  void update(const Operands& operands) override { update_parameters(operands, channels_, seat_); }

  Seat& seat_;
  std::int64_t channels_;
  bool has_token_;  ///< the shard
};

class SelectTokenKernel : public PhasedKernel {
 public:
  SelectTokenKernel(Seat& seat, const SelectToken& op) : seat_(seat), position_(op.position) {}

 private:
  void forward(const Operands& operands) override {
    const Region y = shifted(operands.output, position_);
    copy_box(y, operands.inputs[0], y.box, seat_.type(), seat_.stream());
  }

  void backward_data(const Operands& operands) override {
    const Region& dx = operands.input_gradients[0];
    const Region dy = shifted(operands.output_gradient, position_);
    if (dx.box != dy.box) clear_region(dx, seat_);
    copy_box(dx, dy, dy.box, seat_.type(), seat_.stream());
  }

  Seat& seat_;
  std::int64_t position_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec&, const Tokens&) {
  return std::make_unique<TokensKernel>(seat);
}

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const ClassToken&) {
  return make_of_type<ClassTokenKernel>(seat.type(), seat, spec);
}

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec&, const SelectToken& op) {
  return std::make_unique<SelectTokenKernel>(seat, op);
}

}  // namespace strata::cuda
