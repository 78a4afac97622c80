// Batch normalisation (Ioffe and Szegedy, 2015) with the statistics of the whole batch, whatever
// the cut: a shard gives its moments, and gets everybody's.
//   forward   y = gamma x^ + beta,   x^ = (x - mean) / sqrt(variance + epsilon)
//   backward  dx = gamma / sqrt(variance + epsilon) (dy - sum(dy) / M - x^ sum(dy x^) / M)
// with sums over the M elements of a channel and the biased variance M2 / M.

#include "exec/cuda/kernels/batch_norm_loops.h"
#include "exec/cuda/kernels/kernels.h"

namespace strata::cuda {
namespace {

template <class T>
class BatchNormKernel : public PhasedKernel {
 public:
  BatchNormKernel(Seat& seat, const ShardSpec& spec, const BatchNorm& op)
      : seat_(seat),
        epsilon_(op.epsilon),
        channels_(spec.output[Dim::c].size()),
        count_(static_cast<double>(volume((*spec).output) / (*spec).output[Dim::c])) {}

 private:
  void forward_statistics(const Operands& operands) override {
    const Tensor<T> x(operands.inputs[0]);
    const auto join = [&](const Partials& partials) {
      return JoinRowMoments<T>{partials, x.data, operands.statistics};
    };
    with_width<T>({channels_}, [&](auto width) {
      sum_columns<2, width>(x, MomentTerms<T, width>{packed<width>(x).data}, join, seat_);
    });
  }

  // Where no backward pass will ask, they are forgotten.
  NormLanes lanes(const Operands& operands) {
    auto* at = static_cast<float*>(operands.saved != nullptr ? operands.saved : of_phase(3));
    return {at, at + channels_, at + 2 * channels_, nullptr, nullptr, nullptr};
  }
  void* of_phase(std::int64_t values) {
    return seat_.scratch(values * channels_ * static_cast<std::int64_t>(sizeof(float)));
  }

  void forward(const Operands& operands) override {
    const Tensor<T> x(operands.inputs[0]), y(operands.output);
    NormLanes norm = lanes(operands);
    norm.shift = operands.parameters + channels_;
    each(seat_.stream(), channels_,
         PrepareNorm{norm, operands.statistics, operands.parameters, count_, epsilon_});
    with_width<T>({channels_}, [&](auto width) {
      const Columns columns = Columns::of<width>(x, kPassRows, kPassThreads);
      each(seat_.stream(), columns.threads(),
           Normalize<T, width>{norm, columns, packed<width>(x).data, packed<width>(y).data});
    });
  }

  void backward_statistics(const Operands& operands) override {
    const Tensor<T> x(operands.inputs[0]), dy(operands.output_gradient);
    const NormLanes norm = lanes(operands);
    const PutProducts put{norm.inverse, operands.statistics, operands.parameter_gradients,
                          channels_, operands.adds_parameter_gradients};
    const auto join = [&](const Partials& partials) {
      return JoinSums<2, PutProducts>{partials, put};
    };
    with_width<T>({channels_}, [&](auto width) {
      const ProductTerms<T, width> terms{packed<width>(x).data, packed<width>(dy).data, norm.mean};
      sum_columns<2, width>(x, terms, join, seat_);
    });
  }

  void backward_data(const Operands& operands) override {
    const Tensor<T> x(operands.inputs[0]), dy(operands.output_gradient);
    const Tensor<T> dx(operands.input_gradients[0]);
    NormLanes norm = lanes(operands);
    norm.offset = static_cast<float*>(of_phase(2));
    norm.tilt = norm.offset + channels_;
    each(seat_.stream(), channels_, PrepareNormGradient{norm, operands.statistics, count_});
    with_width<T>({channels_}, [&](auto width) {
      const Columns columns = Columns::of<width>(x, kPassRows, kPassThreads);
      each(seat_.stream(), columns.threads(),
           NormalizeGradient<T, width>{norm, columns, packed<width>(x).data, packed<width>(dy).data,
                                       packed<width>(dx).data});
    });
  }

  void update(const Operands& operands) override {
    update_parameters(operands, 2 * channels_, seat_);
  }

  Seat& seat_;
  double epsilon_;
  std::int64_t channels_;
  double count_;  ///< elements of a channel in the whole batch
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const BatchNorm& op) {
  return make_of_type<BatchNormKernel>(seat.type(), seat, spec, op);
}

}  // namespace strata::cuda
