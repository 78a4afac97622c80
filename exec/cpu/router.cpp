// Gates of tokens. With p = softmax(z) of z = W x, a gate g is p of the chosen experts, over the
// sum of these where gates are normalised. dz = p (a - sum of p a), where a is dg of what was
// chosen and 0 else; normalised, the softmax is that of the chosen experts alone: dz = g (dg - sum
// of g dg).

#include <algorithm>
#include <cmath>
#include <vector>

#include "exec/cpu/kernels.h"
#include "exec/cpu/move.h"
#include "exec/cpu/tensor.h"

namespace strata::cpu {
namespace {

class RouterKernel : public PhasedKernel {
 public:
  RouterKernel(const ShardSpec& spec, const Router& op)
      : op_(op),
        product_(cpu::make_kernel(spec, Linear{op.experts, false})),
        box_(spec.output),
        own_(static_cast<std::size_t>(padded_size(extents(spec.output)))),
        row_(static_cast<std::size_t>(op.experts)),
        gradients_(row_.size()),
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
      take_softmax();
      write(p, n, w, row_);
      choose();
      const float sum = op_.normalize ? chosen_sum() : 1;
      for (std::size_t e = 0; e < row_.size(); ++e) row_[e] = chosen_[e] ? row_[e] / sum : 0;
      write(y, n, w, row_);
    });
    zero_unused(y);
  }

  void backward_data(const Operands& operands) override {
    product_->run(Phase::backward_data, with_logit_gradients(operands));
  }
  void backward_weights(const Operands& operands) override {
    product_->run(Phase::backward_weights, with_logit_gradients(operands));
  }
  void update(const Operands& operands) override { product_->run(Phase::update, operands); }

  /// The operands of the product, whose output's gradient lies in `own_`.
  Operands with_logit_gradients(const Operands& operands) {
    const Tensor p(static_cast<float*>(operands.saved), box_), dy(operands.output_gradient);
    const Tensor dz(own_.data(), box_);
    each_token([&](std::int64_t n, std::int64_t w) {
      read(p, n, w, row_);
      read(dy, n, w, gradients_);
      choose();
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
    const float sum = op_.normalize ? chosen_sum() : 1;
    float along = 0;
    for (std::size_t e = 0; e < row_.size(); ++e) {
      if (!chosen_[e]) gradients_[e] = 0;
      along += row_[e] / sum * gradients_[e];
    }
    for (std::size_t e = 0; e < row_.size(); ++e) {
      const bool takes_part = chosen_[e] || !op_.normalize;
      gradients_[e] = takes_part ? row_[e] / sum * (gradients_[e] - along) : 0;
    }
  }

  void take_softmax() {
    const float most = *std::max_element(row_.begin(), row_.end());
    float sum = 0;
    for (float& value : row_) sum += value = std::exp(value - most);
    for (float& value : row_) value /= sum;
  }

  /// The largest of the row, of equal ones the first.
  void choose() {
    std::fill(chosen_.begin(), chosen_.end(), false);
    for (std::int64_t k = 0; k < op_.top_k; ++k) {
      std::size_t best = row_.size();
      for (std::size_t e = 0; e < row_.size(); ++e) {
        if (!chosen_[e] && (best == row_.size() || row_[e] > row_[best])) best = e;
      }
      chosen_[best] = true;
    }
  }
  float chosen_sum() const {
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
  Box box_;
  std::vector<float> own_;  ///< as the output: logits that are not kept, or their gradients
  std::vector<float> row_, gradients_;  ///< of one token
  std::vector<bool> chosen_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Router& op) {
  return std::make_unique<RouterKernel>(spec, op);
}

}  // namespace strata::cpu
