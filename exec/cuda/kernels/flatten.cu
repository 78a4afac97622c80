// A run of a sample's elements in row-major order (c, d, h, w). The boxes that a shard reads are
// runs, too: a sample of one, taken in that order, stands together in the output's row. Either way
// neighbouring threads write neighbouring addresses.

#include "exec/cuda/kernels/kernels.h"

namespace strata::cuda {
namespace {

/// One box of the input, and where its run begins in each row of the output.
template <class T>
struct FlattenRun {
  Tensor<T> part;
  T* rows;
  std::int64_t row_size, first;

  STRATA_ANYWHERE T& in_row(const Places& at) const {
    const Places& size = part.size;
    const std::int64_t plane = (at.c * size.d + at.d) * size.h + at.h;
    return rows[at.n * row_size + first + plane * size.w + at.w];
  }
  /// Element i of the box in the order of the rows.
  STRATA_ANYWHERE Places row_major(std::int64_t i) const {
    const Places& size = part.size;
    const Places at = Places{size.n, size.c, size.d, size.h, size.w}.at(i);
    return {at.n, at.h, at.w, at.c, at.d};
  }
};

template <class T>
struct FlattenForward {
  FlattenRun<T> run;
  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Places at = run.row_major(i);
    run.in_row(at) = run.part.at(at);
  }
};

template <class T>
struct FlattenBackward {
  FlattenRun<T> run;
  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    run.part.data[i] = run.in_row(run.part.size.at(i));
  }
};

template <class T>
class FlattenKernel : public PhasedKernel {
 public:
  FlattenKernel(Seat& seat, const ShardSpec& spec)
      : stream_(seat.stream()),
        input_((*spec.graph)[(*spec).inputs[0]].output),
        first_(spec.output[Dim::c].begin) {}

 private:
  void forward(const Operands& operands) override {
    each_part<FlattenForward<T>>(operands.inputs, operands.output);
  }
  void backward_data(const Operands& operands) override {
    each_part<FlattenBackward<T>>(operands.input_gradients, operands.output_gradient);
  }

  template <class Loop>
  void each_part(std::span<const Region> parts, const Region& flat) const {
    if (flat.data == parts[0].data) return;  // without a plane, both lie the same way
    for (const Region& part : parts) {
      if (part.data == nullptr) continue;
      const FlattenRun<T> run{Tensor<T>(part), static_cast<T*>(flat.data), flat.box[Dim::c].size(),
                              place_of(part.box) - first_};
      each(stream_, run.part.size.count(), Loop{run});
    }
  }

  /// Where a box begins in a sample of the whole input, row-major.
  std::int64_t place_of(const Box& box) const {
    std::int64_t place = 0;
    for (Dim dim : {Dim::c, Dim::d, Dim::h, Dim::w}) place = place * input_[dim] + box[dim].begin;
    return place;
  }

  Stream& stream_;
  Extents input_;
  std::int64_t first_;  ///< of the output's run
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Flatten&) {
  return make_of_type<FlattenKernel>(seat.type(), seat, spec);
}

}  // namespace strata::cuda
