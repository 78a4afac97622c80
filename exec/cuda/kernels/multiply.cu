// y = x0 x1, dx0 = dy x1, dx1 = dy x0. The second may be a gate, with one value for each channel of
// each sample, whose gradient is summed over d, h, w, or for each position, summed over c. A tensor
// that is read twice gets 2 dy x, where it is read first.

#include "exec/cuda/kernels/columns.h"
#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/tensor/elementwise.h"
#include "sim/graph/regions.h"

namespace strata::cuda {
namespace {

struct Product {
  float times;
  STRATA_ANYWHERE float operator()(const float (&values)[2]) const {
    return times * values[0] * values[1];
  }
};

/// A gated tensor: `packs` of channels at each of the `plane` positions of a sample.
struct Gating {
  std::int64_t samples, plane, packs;

  template <int width, class T>
  static Gating of(const Tensor<T>& x) {
    return {x.size.n, x.size.d * x.size.h * x.size.w, x.size.c / width};
  }
  STRATA_ANYWHERE std::int64_t count() const { return samples * plane * packs; }
  /// The gate's pack for pack i of the tensor.
  STRATA_ANYWHERE std::int64_t gate_of(std::int64_t i) const {
    const Quotient position(i, packs);
    return Quotient(position.whole, plane).whole * packs + position.rest;
  }
};

template <class T, int width>
struct OpenGate {
  using Packed = Pack<T, width>;
  Gating gating;
  Packed* to;
  const Packed* from;
  const Packed* gate;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Packed x = from[i], g = gate[gating.gate_of(i)];
    Packed y;
    for (int lane = 0; lane < width; ++lane) {
      y.values[lane] = T(static_cast<float>(x.values[lane]) * static_cast<float>(g.values[lane]));
    }
    to[i] = y;
  }
};

/// A thread has one pack of channels of every `splits`-th position of a sample: neighbouring
/// threads touch neighbouring addresses, and there are enough of them however small the gate.
template <class T, int width>
struct SumGated {
  using Packed = Pack<T, width>;
  Gating gating;
  std::int64_t splits;
  const Packed* dy;
  const Packed* x;
  Pack<float, width>* partial;  // sample, split, pack

  STRATA_ANYWHERE void operator()(std::int64_t thread) const {
    const Quotient pack(thread, gating.packs), split(pack.whole, splits);
    const std::int64_t first = split.whole * gating.plane * gating.packs + pack.rest;
    Pack<float, width> sum{};
    for (std::int64_t row = split.rest; row < gating.plane; row += splits) {
      const Packed a = dy[first + row * gating.packs], b = x[first + row * gating.packs];
      for (int lane = 0; lane < width; ++lane) {
        sum.values[lane] += static_cast<float>(a.values[lane]) * static_cast<float>(b.values[lane]);
      }
    }
    partial[thread] = sum;
  }
};

/// For each channel of each sample, always in the same order.
template <class T>
struct JoinGate {
  std::int64_t channels, splits;
  const float* partial;
  T* to;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient sample(i, channels);
    double sum = 0;
    for (std::int64_t split = 0; split < splits; ++split) {
      sum += static_cast<double>(partial[(sample.whole * splits + split) * channels + sample.rest]);
    }
    to[i] = T(static_cast<float>(sum));
  }
};

/// By a gate of positions.
template <class T>
struct OpenPositionGate {
  std::int64_t channels;
  T* to;
  const T* from;
  const T* gate;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const T by = gate[Quotient(i, channels).whole];
    to[i] = T(static_cast<float>(from[i]) * static_cast<float>(by));
  }
};

/// Of such a gate; a team has a position.
template <class T>
struct SumPositionGate {
  std::int64_t channels;
  T* to;
  const T* dy;
  const T* x;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t position) const {
    const std::int64_t first = position * channels;
    float sum = 0;
    for (std::int64_t c = team.rank(); c < channels; c += team.size()) {
      sum += static_cast<float>(dy[first + c]) * static_cast<float>(x[first + c]);
    }
    sum = team.sum(sum);
    if (team.rank() == 0) to[position] = T(sum);
  }
};

template <class T>
class MultiplyKernel : public PhasedKernel {
 public:
  MultiplyKernel(Seat& seat, const ShardSpec& spec)
      : seat_(seat), squares_(earlier_reading(*spec, 1).has_value()) {}

 private:
  const Region& second(const Operands& operands) const { return operands.inputs[squares_ ? 0 : 1]; }

  void forward(const Operands& operands) override {
    scale(operands.output, operands.inputs[0], second(operands), 1);
  }

  void backward_data(const Operands& operands) override {
    const Region &x = operands.inputs[0], &dy = operands.output_gradient;
    const Region &to_first = operands.input_gradients[0], &to_second = operands.input_gradients[1];
    if (to_first.data != nullptr) scale(to_first, dy, second(operands), squares_ ? 2.0F : 1.0F);
    if (squares_ || to_second.data == nullptr) return;
    if (extents(to_second.box) == extents(x.box)) return multiply(to_second, dy, x, 1);
    is_of_positions(x, to_second) ? sum_positions(to_second, dy, x) : sum_gated(to_second, dy, x);
  }

  static bool is_of_positions(const Region& x, const Region& gate) {
    return gate.box[Dim::c].size() != x.box[Dim::c].size();
  }

  void scale(const Region& to, const Region& from, const Region& by, float times) const {
    if (extents(from.box) == extents(by.box)) return multiply(to, from, by, times);
    is_of_positions(from, by) ? open_positions(to, from, by) : open(to, from, by);
  }

  void open_positions(const Region& to, const Region& from, const Region& gate) const {
    const Tensor<T> x(from), g(gate), y(to);
    each(seat_.stream(), x.size.count(), OpenPositionGate<T>{x.size.c, y.data, x.data, g.data});
  }

  void sum_positions(const Region& to, const Region& of, const Region& input) const {
    const Tensor<T> dy(of), x(input), result(to);
    teams(seat_.stream(), x.size.positions(),
          SumPositionGate<T>{x.size.c, result.data, dy.data, x.data});
  }

  void multiply(const Region& to, const Region& a, const Region& b, float times) const {
    const Tensor<T> first(a), second(b), result(to);
    elementwise(seat_.stream(), result.data, {first.data, second.data}, result.size.count(),
                Product{times});
  }

  void open(const Region& to, const Region& from, const Region& gate) const {
    const Tensor<T> x(from), g(gate), y(to);
    with_width<T>({x.size.c}, [&](auto width) {
      const Gating gating = Gating::of<width>(x);
      each(seat_.stream(), gating.count(),
           OpenGate<T, width>{gating, packed<width>(y).data, packed<width>(x).data,
                              packed<width>(g).data});
    });
  }

  void sum_gated(const Region& to, const Region& of, const Region& input) const {
    const Tensor<T> dy(of), x(input), result(to);
    with_width<T>({x.size.c}, [&](auto width) {
      const Gating gating = Gating::of<width>(x);
      const std::int64_t splits = splits_of(gating), sums = gating.samples * splits * x.size.c;
      auto* partial =
          static_cast<float*>(seat_.scratch(sums * static_cast<std::int64_t>(sizeof(float))));
      each(seat_.stream(), gating.samples * splits * gating.packs,
           SumGated<T, width>{gating, splits, packed<width>(dy).data, packed<width>(x).data,
                              reinterpret_cast<Pack<float, width>*>(partial)});
      each(seat_.stream(), result.size.count(),
           JoinGate<T>{x.size.c, splits, partial, result.data});
    });
  }

  static std::int64_t splits_of(const Gating& gating) {
    const std::int64_t gates = std::max<std::int64_t>(gating.samples * gating.packs, 1);
    const std::int64_t wanted = std::min(gating.plane / kSumRows, kSumThreads / gates);
    return std::max<std::int64_t>(wanted, 1);
  }

  Seat& seat_;
  bool squares_;  ///< both inputs are one tensor
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Multiply&) {
  return make_of_type<MultiplyKernel>(seat.type(), seat, spec);
}

}  // namespace strata::cuda
