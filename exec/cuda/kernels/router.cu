// Gates of tokens. With p = softmax(z) of z = W x, a gate g is p of the chosen experts, over the
// sum of these where gates are normalised. dz = p (a - sum of p a), where a is dg of what was
// chosen and 0 else; normalised, the softmax is that of the chosen experts alone: dz = g (dg - sum
// of g dg). A team takes a token. Logits and p are fp32 whatever the tensors' type: in bf16 the
// weight is the sum of two, for a token whose logits are near each other would else have other
// experts.

#include <cmath>
#include <limits>

#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/products/products.h"
#include "sim/graph/regions.h"

namespace strata::cuda {
namespace {

/// The weight and, behind it, what its type leaves of it.
struct SplitWeight {
  const float* weight;
  Bf16* parts;
  std::int64_t count;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    parts[i] = Bf16(weight[i]);
    parts[count + i] = Bf16(weight[i] - static_cast<float>(parts[i]));
  }
};

/// Logits, which become their softmax.
struct RouterSoftmax {
  float* p;
  std::int64_t experts;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t token) const {
    float* const row = p + token * experts;
    float most = -std::numeric_limits<float>::infinity(), sum = 0;
    for (std::int64_t e = team.rank(); e < experts; e += team.size()) {
      most = row[e] > most ? row[e] : most;
    }
    most = team.largest(most);
    for (std::int64_t e = team.rank(); e < experts; e += team.size()) {
      row[e] = std::exp(row[e] - most);
      sum += row[e];
    }
    sum = team.sum(sum);
    for (std::int64_t e = team.rank(); e < experts; e += team.size()) row[e] /= sum;
  }
};

/// Which experts a token has, and its gates.
struct Choice {
  const float* p;
  std::int64_t experts, top_k;
  bool normalize;

  /// Whether fewer than top_k of the row come before it: larger ones, or of equal ones the first.
  STRATA_ANYWHERE bool has(const float* row, std::int64_t expert) const {
    std::int64_t before = 0;
    for (std::int64_t e = 0; e < experts; ++e) {
      before += row[e] > row[expert] || (row[e] == row[expert] && e < expert) ? 1 : 0;
    }
    return before < top_k;
  }
  /// What the gates of a token are divided by.
  STRATA_ANYWHERE float divisor(const Team& team, const float* row) const {
    if (!normalize) return 1;
    float sum = 0;
    for (std::int64_t e = team.rank(); e < experts; e += team.size()) {
      sum += has(row, e) ? row[e] : 0;
    }
    return team.sum(sum);
  }
};

template <class T>
struct RouterGates {
  Choice choice;
  T* gates;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t token) const {
    const float* const row = choice.p + token * choice.experts;
    const float divisor = choice.divisor(team, row);
    for (std::int64_t e = team.rank(); e < choice.experts; e += team.size()) {
      gates[token * choice.experts + e] = T(choice.has(row, e) ? row[e] / divisor : 0.0F);
    }
  }
};

template <class T>
struct RouterGradient {
  Choice choice;
  const T* dg;
  T* dz;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t token) const {
    const std::int64_t first = token * choice.experts;
    const float* const row = choice.p + first;
    const float divisor = choice.divisor(team, row);
    float along = 0;
    for (std::int64_t e = team.rank(); e < choice.experts; e += team.size()) {
      if (choice.has(row, e)) along += row[e] / divisor * static_cast<float>(dg[first + e]);
    }
    along = team.sum(along);
    for (std::int64_t e = team.rank(); e < choice.experts; e += team.size()) {
      const bool chosen = choice.has(row, e);
      const float above = (chosen ? static_cast<float>(dg[first + e]) : 0) - along;
      dz[first + e] = T(chosen || !choice.normalize ? row[e] / divisor * above : 0.0F);
    }
  }
};

template <class T>
class RouterKernel : public PhasedKernel {
 public:
  RouterKernel(Seat& seat, const ShardSpec& spec, const Router& op)
      : seat_(seat),
        op_(op),
        weight_(shard_parameters(*spec, spec.output).weight),
        inputs_(spec.inputs[0][0][Dim::c].size()),
        tokens_(volume(spec.output) / op.experts) {
    if (seat.type() == Type::fp32) return;
    parts_ = LastingMemory(seat.gpu(), 2 * weight_ * size_of(seat.type()));
  }

 private:
  void forward(const Operands& operands) override {
    auto* const p =
        static_cast<float*>(operands.saved != nullptr ? operands.saved : between(sizeof(float)));
    multiply_to(p, operands);
    teams(seat_.stream(), tokens_, RouterSoftmax{p, op_.experts});
    teams(seat_.stream(), tokens_,
          RouterGates<T>{choice(p), static_cast<T*>(operands.output.data)});
  }

  /// dx = dz w
  void backward_data(const Operands& operands) override {
    multiply(seat_, {logit_gradients(operands), tokens_, op_.experts},
             {kept_weight(operands), op_.experts, inputs_}, operands.input_gradients[0].data,
             seat_.type(), operands.adds_input_gradients);
  }

  /// dw = dz^T x
  void backward_weights(const Operands& operands) override {
    multiply(seat_, {logit_gradients(operands), op_.experts, tokens_, true},
             {operands.inputs[0].data, tokens_, inputs_}, operands.parameter_gradients, Type::fp32,
             operands.adds_parameter_gradients);
  }

  void update(const Operands& operands) override { update_parameters(operands, weight_, seat_); }

  /// p = x w^T
  void multiply_to(float* p, const Operands& operands) {
    const Matrix x{operands.inputs[0].data, tokens_, inputs_};
    auto* const parts = static_cast<Bf16*>(parts_.data());
    if (parts != nullptr) {
      each(seat_.stream(), weight_, SplitWeight{operands.parameters, parts, weight_});
    }
    multiply(seat_, x, {kept_weight(operands), inputs_, op_.experts, true}, p, Type::fp32);
    if (parts == nullptr) return;
    multiply(seat_, x, {parts + weight_, inputs_, op_.experts, true}, p, Type::fp32, true);
  }

  Choice choice(const void* p) const {
    return {static_cast<const float*>(p), op_.experts, op_.top_k, op_.normalize};
  }
  void* between(std::size_t size) {
    return seat_.scratch(tokens_ * op_.experts * static_cast<std::int64_t>(size));
  }
  const void* logit_gradients(const Operands& operands) {
    auto* const dz = static_cast<T*>(between(sizeof(T)));
    teams(seat_.stream(), tokens_,
          RouterGradient<T>{choice(operands.saved),
                            static_cast<const T*>(operands.output_gradient.data), dz});
    return dz;
  }
  const void* kept_weight(const Operands& operands) const {
    return parts_.data() == nullptr ? operands.parameters : parts_.data();
  }

  Seat& seat_;
  Router op_;
  std::int64_t weight_;  ///< parameters
  std::int64_t inputs_, tokens_;
  LastingMemory parts_;  ///< of the weight, in the tensors' type, where that is another
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Router& op) {
  return make_of_type<RouterKernel>(seat.type(), seat, spec, op);
}

}  // namespace strata::cuda
