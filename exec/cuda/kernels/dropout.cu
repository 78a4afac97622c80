// y = x / (1 - p) where the mask keeps an element, else 0; dx from dy likewise. Nothing is kept in
// between: the mask follows from the step and the element's place, and is worked out where it is
// used.

#include "exec/cuda/kernels/kernels.h"
#include "exec/runtime/dropout_mask.h"

namespace strata::cuda {
namespace {

/// Row-major places over (n, c, d, h, w) of the layer's whole output, n over those of all rounds.
struct DropoutPlaces {
  Places whole, begin;

  STRATA_ANYWHERE std::int64_t element(const Places& local) const {
    const Places at = local + begin;
    return (((at.n * whole.c + at.c) * whole.d + at.d) * whole.h + at.h) * whole.w + at.w;
  }
  STRATA_ANYWHERE std::int64_t between_channels() const { return whole.d * whole.h * whole.w; }
};

template <class T, int width>
struct DropoutLoop {
  Tensor<Pack<T, width>> to, from;
  DropoutPlaces places;
  LayerDropout dropout;
  const StepState* step;
  float scale;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const DropoutMask mask = dropout.mask(step->step);
    Places at = to.size.at(i);
    at.c *= width;
    std::int64_t element = places.element(at);
    Pack<T, width> pack = from.data[i];
    for (int k = 0; k < width; ++k, element += places.between_channels()) {
      const float value = static_cast<float>(pack.values[k]);
      pack.values[k] = T(mask.keeps(element) ? value * scale : 0);
    }
    to.data[i] = pack;
  }
};

template <class T>
class DropoutKernel : public PhasedKernel {
 public:
  DropoutKernel(Seat& seat, const ShardSpec& spec, const Dropout& op)
      : seat_(seat),
        training_(spec.training),
        places_{places((*spec).output), begin_of(spec.output)},
        dropout_(spec.seed, spec.layer, op.probability),
        scale_(static_cast<float>(1 / (1 - op.probability))) {}

 private:
  void forward(const Operands& operands) override {
    const Region &from = operands.inputs[0], &to = operands.output;
    if (training_) return apply(operands, from, to);
    if (from.data != to.data) copy_box(to, from, to.box, seat_.type(), seat_.stream());
  }

  void backward_data(const Operands& operands) override {
    apply(operands, operands.output_gradient, operands.input_gradients[0]);
  }

  void apply(const Operands& operands, const Region& from, const Region& to) const {
    const Tensor<T> source(from), target(to);
    DropoutPlaces of_round = places_;
    of_round.begin.n += operands.step->round * places_.whole.n;
    with_width<T>({target.size.c}, [&](auto width) {
      const DropoutLoop<T, width> loop{
          packed<width>(target), packed<width>(source), of_round, dropout_, seat_.step(), scale_};
      each(seat_.stream(), loop.to.size.count(), loop);
    });
  }

  Seat& seat_;
  bool training_;
  DropoutPlaces places_;
  LayerDropout dropout_;
  float scale_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Dropout& op) {
  return make_of_type<DropoutKernel>(seat.type(), seat, spec, op);
}

}  // namespace strata::cuda
