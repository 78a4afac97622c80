// Normalisation across channels (Krizhevsky et al., 2012, as PyTorch counts it):
//   s_i = k + alpha / size * sum over j in [i - (size-1)/2, i + size/2] of x_j^2,  y_i = x_i
//   s_i^-beta dx_i = dy_i s_i^-beta - 2 alpha beta / size * x_i * sum over the j whose window holds
//   i of
//          dy_j y_j / s_j
// A shard's input reaches beyond its output's channels where the tensor does. Its gradient is what
// this shard's outputs make of it.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "exec/cpu/kernels.h"
#include "exec/cpu/loops.h"
#include "exec/cpu/tensor.h"

namespace strata::cpu {
namespace {

/// Of so many places at a time all channels lie side by side, in a close cache.
constexpr std::int64_t kPlaces = 8;

/// The channels of a few places of a sample, place after place, between margins of zeros.
class ChannelRows {
 public:
  ChannelRows(std::int64_t before, std::int64_t channels, std::int64_t after)
      : before_(before),
        channels_(channels),
        stride_(before + channels + after),
        values_(static_cast<std::size_t>(kPlaces * stride_)) {}

  /// A place's channels; margins are at negative indices and beyond the end.
  float* operator[](std::int64_t place) { return values_.data() + place * stride_ + before_; }

  void read(const Tensor& from, std::int64_t n, std::int64_t place, std::int64_t places) {
    each_run(from, n, place, places,
             [](float* row, const float* at, std::int64_t used, auto) { copy_run(row, at, used); });
  }

  /// With zeros in unused places.
  void write(const Tensor& to, std::int64_t n, std::int64_t place, std::int64_t places) {
    each_run(to, n, place, places,
             [](const float* row, float* at, std::int64_t used, std::int64_t unused) {
               copy_run(at, row, used);
               std::fill_n(at + used, unused, 0.0F);
             });
  }

 private:
  // Whole blocks, which most are, without a call.
  static void copy_run(float* to, const float* from, std::int64_t count) {
    if (count == 8) {
      std::memcpy(to, from, 8 * sizeof(float));
    } else if (count == 16) {
      std::memcpy(to, from, 16 * sizeof(float));
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
    }
  }

  /// Calls visit(in a row, in the tensor, channels, unused places) for each block of each place.
  template <class Visit>
  void each_run(const Tensor& tensor, std::int64_t n, std::int64_t place, std::int64_t places,
                Visit visit) {
    const std::int64_t block = tensor.block();
    for (std::int64_t c = 0; c < channels_; c += block) {
      float* at = tensor.block_at(n, c / block) + place * block;
      const std::int64_t used = std::min(block, channels_ - c);
      for (std::int64_t p = 0; p < places; ++p, at += block) {
        visit((*this)[p] + c, at, used, block - used);
      }
    }
  }

  std::int64_t before_, channels_, stride_;
  std::vector<float> values_;
};

class LocalResponseNormKernel : public PhasedKernel {
 public:
  LocalResponseNormKernel(const ShardSpec& spec, const LocalResponseNorm& op)
      : op_(op),
        inputs_(spec.inputs[0][0][Dim::c].size()),
        outputs_(spec.output[Dim::c].size()),
        first_(spec.output[Dim::c].begin - spec.inputs[0][0][Dim::c].begin),
        x_(op.size, inputs_, op.size),
        squares_(op.size, inputs_, op.size),
        y_(0, outputs_, 0),
        dy_(0, outputs_, 0),
        // Read for every input: as far beyond the outputs as the inputs and a window go.
        shares_(inputs_ + op.size, outputs_, inputs_ + op.size),
        dx_(0, inputs_, 0),
        sums_(static_cast<std::size_t>(std::max(inputs_, outputs_))),
        powers_(sums_.size()) {}

 private:
  /// visit(sample, its first place, places) for a few places at a time.
  template <class Visit>
  static void each_few(const Tensor& shape, const Visit& visit) {
    for (std::int64_t n = 0; n < shape.extents()[Dim::n]; ++n) {
      for (std::int64_t at = 0; at < shape.plane(); at += kPlaces) {
        visit(n, at, std::min(kPlaces, shape.plane() - at));
      }
    }
  }

  /// s of this place's outputs into sums_, s^-beta into powers_.
  void denominators(std::int64_t place) {
    const float* x = x_[place];
    float* squares = squares_[place];
    for (std::int64_t c = 0; c < inputs_; ++c) squares[c] = x[c] * x[c];
    loops().neighbours.window_sums(squares + first_ - (op_.size - 1) / 2, outputs_, op_.size,
                                   sums_.data());
    const auto k = static_cast<float>(op_.k), share = static_cast<float>(op_.alpha / per_window());
    for (std::int64_t c = 0; c < outputs_; ++c) sums_[c] = k + share * sums_[c];
    if (op_.beta == 0.75) {
      return loops().neighbours.three_quarters(sums_.data(), outputs_, powers_.data());
    }
    const auto beta = static_cast<float>(op_.beta);
    for (std::int64_t c = 0; c < outputs_; ++c) powers_[c] = std::pow(sums_[c], -beta);
  }

  void forward(const Operands& operands) override {
    const Tensor input(operands.inputs[0]), output(operands.output);
    each_few(input, [&](std::int64_t n, std::int64_t at, std::int64_t places) {
      x_.read(input, n, at, places);
      for (std::int64_t p = 0; p < places; ++p) {
        denominators(p);
        const float* x = x_[p] + first_;
        for (std::int64_t c = 0; c < outputs_; ++c) y_[p][c] = x[c] * powers_[c];
      }
      y_.write(output, n, at, places);
    });
  }

  void backward_data(const Operands& operands) override {
    const Tensor input(operands.inputs[0]), output_gradient(operands.output_gradient);
    const Tensor input_gradient(operands.input_gradients[0]);
    each_few(input, [&](std::int64_t n, std::int64_t at, std::int64_t places) {
      x_.read(input, n, at, places);
      dy_.read(output_gradient, n, at, places);
      for (std::int64_t p = 0; p < places; ++p) gradient(p);
      dx_.write(input_gradient, n, at, places);
    });
  }

  void gradient(std::int64_t place) {
    denominators(place);
    const float *x = x_[place], *dy = dy_[place];
    float *shares = shares_[place], *dx = dx_[place];
    for (std::int64_t c = 0; c < outputs_; ++c) {
      shares[c] = dy[c] * x[first_ + c] * powers_[c] / sums_[c];
    }
    // Input i is in the windows of outputs i - size/2 ... i + (size-1)/2.
    loops().neighbours.window_sums(shares - first_ - op_.size / 2, inputs_, op_.size, dx);
    const auto factor = static_cast<float>(-2 * op_.alpha * op_.beta / per_window());
    for (std::int64_t c = 0; c < inputs_; ++c) dx[c] *= factor * x[c];
    for (std::int64_t c = 0; c < outputs_; ++c) dx[first_ + c] += dy[c] * powers_[c];
  }

  double per_window() const { return static_cast<double>(op_.size); }

  LocalResponseNorm op_;
  std::int64_t inputs_, outputs_;
  std::int64_t first_;  ///< the output's first channel among the input's
  ChannelRows x_, squares_, y_, dy_, shares_, dx_;
  std::vector<float> sums_, powers_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const LocalResponseNorm& op) {
  return std::make_unique<LocalResponseNormKernel>(spec, op);
}

}  // namespace strata::cpu
