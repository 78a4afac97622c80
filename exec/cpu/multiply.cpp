// y = x0 x1, dx0 = dy x1, dx1 = dy x0. The second may be a gate, with one value for each channel of
// each sample, whose gradient is summed over d, h, w, or for each position, summed over c. A tensor
// that is read twice gets 2 dy x, where it is read first.

#include <vector>

#include "exec/cpu/kernels.h"
#include "exec/cpu/loops.h"
#include "exec/cpu/move.h"
#include "sim/graph/regions.h"

namespace strata::cpu {
namespace {

const BlockLoops& loops_of(const Tensor& x) {
  return x.block() == 1 ? loops().singles : loops().blocks;
}

void product(const Tensor& to, const Tensor& a, const Tensor& b, float times) {
  float* __restrict values = to.data();
  const float *first = a.data(), *second = b.data();
  for (std::int64_t i = 0; i < to.padded_size(); ++i) values[i] = times * first[i] * second[i];
}

/// Visits each channel block of x with where its channels stand in a gate, which has no plane and
/// so always blocks.
template <class Visit>
void each_block(const Tensor& x, const Tensor& gate, Visit visit) {
  for (std::int64_t n = 0; n < x.extents()[Dim::n]; ++n) {
    for (std::int64_t cb = 0; cb < x.blocks(); ++cb) {
      const std::int64_t channel = cb * x.block();
      visit(n, cb, gate.block_at(n, channel / gate.block()) + channel % gate.block());
    }
  }
}

/// As batch norm scales, around 0 and without a shift.
void open(const Tensor& to, const Tensor& from, const Tensor& gate) {
  const std::vector<float> zeros(static_cast<std::size_t>(gate.block()));
  each_block(from, gate, [&](std::int64_t n, std::int64_t cb, const float* scale) {
    const NormLanes lanes{zeros.data(), scale, zeros.data(), nullptr, nullptr};
    loops_of(from).normalize(lanes, from.block_at(n, cb), from.plane(), to.block_at(n, cb));
  });
}

void gate_gradient(const Tensor& to, const Tensor& dy, const Tensor& x) {
  const auto block = static_cast<std::size_t>(x.block());
  const std::vector<float> zeros(block);
  fill_zero(to);
  each_block(x, to, [&](std::int64_t n, std::int64_t cb, float* sums) {
    std::vector<double> both(2 * block);
    loops_of(x).products(dy.block_at(n, cb), x.block_at(n, cb), x.plane(), zeros.data(),
                         both.data());
    for (std::size_t k = 0; k < block; ++k) sums[k] = static_cast<float>(both[block + k]);
  });
}

/// A gate of positions, which has one channel.
bool is_of_positions(const Tensor& x, const Tensor& gate) {
  return gate.extents()[Dim::c] != x.extents()[Dim::c];
}

void open_positions(const Tensor& to, const Tensor& from, const Tensor& gate) {
  for (std::int64_t n = 0; n < from.extents()[Dim::n]; ++n) {
    const float* const open = gate.block_at(n, 0);
    for (std::int64_t cb = 0; cb < from.blocks(); ++cb) {
      const float* x = from.block_at(n, cb);
      float* y = to.block_at(n, cb);
      for (std::int64_t p = 0; p < from.plane(); ++p) {
        const float by = open[p * gate.block()];
        for (std::int64_t k = 0; k < from.block(); ++k) *y++ = by * *x++;
      }
    }
  }
}

void position_gradient(const Tensor& to, const Tensor& dy, const Tensor& x) {
  fill_zero(to);
  for (std::int64_t n = 0; n < x.extents()[Dim::n]; ++n) {
    float* const sums = to.block_at(n, 0);
    for (std::int64_t cb = 0; cb < x.blocks(); ++cb) {
      const float *a = dy.block_at(n, cb), *b = x.block_at(n, cb);
      for (std::int64_t p = 0; p < x.plane(); ++p) {
        float& sum = sums[p * to.block()];
        for (std::int64_t k = 0; k < x.block(); ++k) sum += *a++ * *b++;
      }
    }
  }
}

class MultiplyKernel : public PhasedKernel {
 public:
  explicit MultiplyKernel(const ShardSpec& spec)
      : squares_(earlier_reading(*spec, 1).has_value()) {}

 private:
  Tensor second(const Operands& operands) const {
    return Tensor(operands.inputs[squares_ ? 0 : 1]);
  }

  static void scale(const Tensor& to, const Tensor& from, const Tensor& by, float times) {
    if (from.extents() == by.extents()) return product(to, from, by, times);
    is_of_positions(from, by) ? open_positions(to, from, by) : open(to, from, by);
  }

  void forward(const Operands& operands) override {
    scale(Tensor(operands.output), Tensor(operands.inputs[0]), second(operands), 1);
  }

  void backward_data(const Operands& operands) override {
    const Tensor x(operands.inputs[0]), dy(operands.output_gradient);
    const Region &to_first = operands.input_gradients[0], &to_second = operands.input_gradients[1];
    if (to_first.data != nullptr) {
      scale(Tensor(to_first), dy, second(operands), squares_ ? 2.0F : 1.0F);
    }
    if (squares_ || to_second.data == nullptr) return;
    const Tensor to(to_second);
    if (to.extents() == x.extents()) return product(to, dy, x, 1);
    is_of_positions(x, to) ? position_gradient(to, dy, x) : gate_gradient(to, dy, x);
  }

  bool squares_;  ///< both inputs are one tensor
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Multiply&) {
  return std::make_unique<MultiplyKernel>(spec);
}

}  // namespace strata::cpu
