// Gates of tokens. With scores p = softmax(z) of z = W x + b, a gate g is the scale s times p of
// the chosen experts, over the sum of these where gates are normalised. With a = s dg of what was
// chosen and 0 else, dz = p (a - sum of p a); normalised, the softmax is that of the chosen experts
// alone: with q = p / sum, dz = q (a - sum of q a). Of sigmoids, dz = p (1 - p) dp, where dp = a,
// or, normalised, (a - sum of q a) / sum. Scores are kept, those of experts that were not chosen
// with a minus.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "exec/cpu/kernels.h"
#include "exec/cpu/move.h"
#include "exec/cpu/tensor.h"

namespace strata::cpu {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();

class RouterKernel : public PhasedKernel {
 public:
  RouterKernel(const ShardSpec& spec, const Router& op)
      : op_(op),
        product_(cpu::make_kernel(spec, Linear{op.experts, op.bias})),
        weights_(op.experts * spec.inputs[0][0][Dim::c].size()),
        box_(spec.output),
        own_(static_cast<std::size_t>(padded_size(extents(spec.output)))),
        row_(static_cast<std::size_t>(op.experts)),
        gradients_(row_.size()),
        ranks_(row_.size()),
        chosen_(row_.size()) {}

 private:
  void forward(const Operands& operands) override {
    auto* const memory = static_cast<float*>(operands.saved);
    const Region logits{memory != nullptr ? memory : own_.data(), box_};
    Operands inner = operands;
    inner.output = logits;
    product_->run(Phase::forward, inner);
    const Tensor p(logits), y(operands.output);
    each_token([&](std::int64_t n, std::int64_t w) {
      read(p, n, w, row_);
      op_.sigmoid ? take_sigmoids() : take_softmax();
      choose(operands.parameters + weights_);
      for (std::size_t e = 0; e < row_.size(); ++e) ranks_[e] = chosen_[e] ? row_[e] : -row_[e];
      write(p, n, w, ranks_);
      const float factor = static_cast<float>(op_.scale) / divisor();
      for (std::size_t e = 0; e < row_.size(); ++e) row_[e] = chosen_[e] ? row_[e] * factor : 0;
      write(y, n, w, row_);
    });
    zero_unused(y);
  }

  void backward_data(const Operands& operands) override {
    product_->run(Phase::backward_data, with_logit_gradients(operands));
  }
  void backward_weights(const Operands& operands) override {
    product_->run(Phase::backward_weights, with_logit_gradients(operands));
    if (!op_.correction || operands.adds_parameter_gradients) return;
    std::fill_n(operands.parameter_gradients + weights_, op_.experts, 0.0F);
  }
  void update(const Operands& operands) override {
    update_parameters(operands, weights_ + (op_.correction || op_.bias ? op_.experts : 0));
  }

  /// The operands of the product, whose output's gradient lies in `own_`.
  Operands with_logit_gradients(const Operands& operands) {
    const Tensor p(static_cast<float*>(operands.saved), box_), dy(operands.output_gradient);
    const Tensor dz(own_.data(), box_);
    each_token([&](std::int64_t n, std::int64_t w) {
      read(p, n, w, row_);
      read(dy, n, w, gradients_);
      for (std::size_t e = 0; e < row_.size(); ++e) {
        chosen_[e] = !std::signbit(row_[e]);
        row_[e] = std::abs(row_[e]);
      }
      differentiate();
      write(dz, n, w, gradients_);
    });
    zero_unused(dz);
    Operands inner = operands;
    inner.output_gradient = {own_.data(), box_};
    return inner;
  }

  /// Of the gates to that of the logits, of one token.
  void differentiate() {
    const float sum = divisor(), scale = static_cast<float>(op_.scale);
    float along = 0;
    for (std::size_t e = 0; e < row_.size(); ++e) {
      gradients_[e] = chosen_[e] ? scale * gradients_[e] : 0;
      along += row_[e] / sum * gradients_[e];
    }
    if (op_.sigmoid && !op_.normalize) along = 0;
    for (std::size_t e = 0; e < row_.size(); ++e) {
      const bool takes_part = chosen_[e] || !(op_.normalize || op_.sigmoid);
      const float slope = op_.sigmoid ? row_[e] * (1 - row_[e]) : row_[e];
      gradients_[e] = takes_part ? slope / sum * (gradients_[e] - along) : 0;
    }
  }

  void take_softmax() {
    const float most = *std::max_element(row_.begin(), row_.end());
    float sum = 0;
    for (float& value : row_) sum += value = std::exp(value - most);
    for (float& value : row_) value /= sum;
  }

  void take_sigmoids() {
    for (float& value : row_) value = 1 / (1 + std::exp(-value));
  }

  /// The experts of the largest scores in the best groups, of equal ones the first.
  void choose(const float* correction) {
    for (std::size_t e = 0; e < row_.size(); ++e) {
      ranks_[e] = row_[e] + (op_.correction ? correction[e] : 0);
    }
    if (op_.groups > op_.top_groups) leave_out_groups();
    std::fill(chosen_.begin(), chosen_.end(), false);
    for (std::int64_t k = 0; k < op_.top_k; ++k) {
      const std::size_t best = largest(ranks_);
      chosen_[best] = true, ranks_[best] = kNone;
    }
  }
  /// All but the best have no rank.
  void leave_out_groups() {
    const std::size_t size = row_.size() / static_cast<std::size_t>(op_.groups);
    std::vector<float> groups(static_cast<std::size_t>(op_.groups));
    std::vector<float> own(size);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      std::copy_n(ranks_.begin() + static_cast<std::ptrdiff_t>(g * size), size, own.begin());
      std::sort(own.rbegin(), own.rend());
      groups[g] = op_.correction ? own[0] + own[1] : own[0];
    }
    std::vector<bool> stays(groups.size());
    for (std::int64_t k = 0; k < op_.top_groups; ++k) {
      const std::size_t best = largest(groups);
      stays[best] = true, groups[best] = kNone;
    }
    for (std::size_t e = 0; e < ranks_.size(); ++e) {
      if (!stays[e / size]) ranks_[e] = kNone;
    }
  }
  static std::size_t largest(const std::vector<float>& values) {
    return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) -
                                    values.begin());
  }
  /// What the chosen scores are divided by.
  float divisor() const {
    if (!op_.normalize) return 1;
    float sum = 0;
    for (std::size_t e = 0; e < row_.size(); ++e) sum += chosen_[e] ? row_[e] : 0;
    return sum;
  }

  template <class Visit>
  void each_token(const Visit& visit) const {
    for (std::int64_t n = 0; n < box_[Dim::n].size(); ++n) {
      for (std::int64_t w = 0; w < box_[Dim::w].size(); ++w) visit(n, w);
    }
  }
  static void read(const Tensor& from, std::int64_t n, std::int64_t w, std::vector<float>& row) {
    for (std::size_t e = 0; e < row.size(); ++e) {
      row[e] = from.at(n, static_cast<std::int64_t>(e), 0, 0, w);
    }
  }
  static void write(const Tensor& to, std::int64_t n, std::int64_t w,
                    const std::vector<float>& row) {
    for (std::size_t e = 0; e < row.size(); ++e) {
      to.at(n, static_cast<std::int64_t>(e), 0, 0, w) = row[e];
    }
  }

  Router op_;
  std::unique_ptr<Kernel> product_;
  std::int64_t weights_;  ///< of the product; its bias or the correction lies behind them
  Box box_;
  std::vector<float> own_;  ///< as the output: logits that are not kept, or their gradients
  std::vector<float> row_, gradients_;  ///< of one token
  std::vector<float> ranks_;            ///< by which its experts are chosen
  std::vector<bool> chosen_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Router& op) {
  return std::make_unique<RouterKernel>(spec, op);
}

}  // namespace strata::cpu
