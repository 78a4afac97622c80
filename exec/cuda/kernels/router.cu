// Gates of tokens. With scores p = softmax(z) of z = W x + b, a gate g is the scale s times p of
// the chosen experts, over the sum of these where gates are normalised. With a = s dg of what was
// chosen and 0 else, dz = p (a - sum of p a); normalised, the softmax is that of the chosen experts
// alone: with q = p / sum, dz = q (a - sum of q a). Of sigmoids, dz = p (1 - p) dp, where dp = a,
// or, normalised, (a - sum of q a) / sum. Scores are kept, those of experts that were not chosen
// with a minus. A team takes a token, a thread its choice. Logits and p are fp32 whatever the
// tensors' type: in bf16 the weight is the sum of two, for a token whose logits are near each other
// would else have other experts.

#include <cmath>
#include <limits>
#include <string>

#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/products/products.h"
#include "sim/base/error.h"
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

struct AddRouterBias {
  float* logits;
  const float* bias;
  std::int64_t experts;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    logits[i] += bias[Quotient(i, experts).rest];
  }
};

/// Of an expert, the sum of its logits' gradients.
template <class T>
struct RouterBiasGradient {
  const T* dz;
  std::int64_t tokens, experts;
  float* to;
  bool adds;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t expert) const {
    float sum = 0;
    for (std::int64_t token = team.rank(); token < tokens; token += team.size()) {
      sum += static_cast<float>(dz[token * experts + expert]);
    }
    sum = team.sum(sum);
    if (team.rank() == 0) to[expert] = adds ? to[expert] + sum : sum;
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

struct RouterSigmoid {
  float* p;

  STRATA_ANYWHERE void operator()(std::int64_t i) const { p[i] = 1 / (1 + std::exp(-p[i])); }
};

constexpr std::int64_t kMostGroups = 64;  // a bit of a word for each

/// Gives the scores of experts that a token has not a minus. Of equal ones it has the first.
struct RouterChoice {
  float* p;
  const float* correction;  ///< null: none
  std::int64_t experts, top_k, groups, top_groups;

  STRATA_ANYWHERE void operator()(std::int64_t token) const {
    float* const row = p + token * experts;
    const std::uint64_t best = best_groups(row);
    for (std::int64_t e = 0; e < experts; ++e) row[e] = -row[e];
    for (std::int64_t k = 0; k < top_k; ++k) {
      std::int64_t chosen = experts;
      for (std::int64_t e = 0; e < experts; ++e) {
        const bool stands_by = std::signbit(row[e]) && (best >> (e / of_group()) & 1U) != 0;
        if (stands_by && (chosen == experts || rank(row, e) > rank(row, chosen))) chosen = e;
      }
      row[chosen] = -row[chosen];
    }
  }

 private:
  STRATA_ANYWHERE std::int64_t of_group() const { return experts / groups; }
  STRATA_ANYWHERE float rank(const float* row, std::int64_t expert) const {
    return std::fabs(row[expert]) + (correction != nullptr ? correction[expert] : 0);
  }
  /// The best rank, or with a correction the sum of the two best.
  STRATA_ANYWHERE float rank_of_group(const float* row, std::int64_t group) const {
    float first = -std::numeric_limits<float>::infinity(), second = first;
    for (std::int64_t e = group * of_group(); e < (group + 1) * of_group(); ++e) {
      const float own = rank(row, e);
      second = own > first ? first : own > second ? own : second;
      first = own > first ? own : first;
    }
    return correction != nullptr ? first + second : first;
  }
  STRATA_ANYWHERE std::uint64_t best_groups(const float* row) const {
    std::uint64_t best = 0;
    if (top_groups == groups) return ~best;
    for (std::int64_t k = 0; k < top_groups; ++k) {
      std::int64_t chosen = groups;
      float most = 0;
      for (std::int64_t g = 0; g < groups; ++g) {
        if ((best >> g & 1U) != 0) continue;
        const float own = rank_of_group(row, g);
        if (chosen == groups || own > most) chosen = g, most = own;
      }
      best |= std::uint64_t{1} << chosen;
    }
    return best;
  }
};

/// What makes gates of a token's scores.
struct ScoredExperts {
  const float* p;
  std::int64_t experts;
  bool normalize, sigmoid;
  float scale;

  STRATA_ANYWHERE bool has(const float* row, std::int64_t expert) const {
    return !std::signbit(row[expert]);
  }
  /// What the scores are divided by.
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
  ScoredExperts by;
  T* gates;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t token) const {
    const float* const row = by.p + token * by.experts;
    const float factor = by.scale / by.divisor(team, row);
    for (std::int64_t e = team.rank(); e < by.experts; e += team.size()) {
      gates[token * by.experts + e] = T(by.has(row, e) ? row[e] * factor : 0.0F);
    }
  }
};

template <class T>
struct RouterGradient {
  ScoredExperts by;
  const T* dg;
  T* dz;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t token) const {
    const std::int64_t first = token * by.experts;
    const float* const row = by.p + first;
    const float sum = by.divisor(team, row);
    float along = 0;
    for (std::int64_t e = team.rank(); e < by.experts; e += team.size()) {
      if (by.has(row, e)) along += row[e] / sum * by.scale * static_cast<float>(dg[first + e]);
    }
    along = team.sum(along);
    if (by.sigmoid && !by.normalize) along = 0;
    for (std::int64_t e = team.rank(); e < by.experts; e += team.size()) {
      const bool chosen = by.has(row, e);
      const float score = std::fabs(row[e]);
      const float slope = by.sigmoid ? score * (1 - score) : score;
      const float above = (chosen ? by.scale * static_cast<float>(dg[first + e]) : 0) - along;
      const bool takes_part = chosen || !(by.normalize || by.sigmoid);
      dz[first + e] = T(takes_part ? slope / sum * above : 0.0F);
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
    if (op.groups > kMostGroups) {
      throw EnvironmentError("router on GPUs has at most " + std::to_string(kMostGroups) +
                             " groups of experts, not " + std::to_string(op.groups));
    }
    if (seat.type() == Type::fp32) return;
    parts_ = LastingMemory(seat.gpu(), 2 * weight_ * size_of(seat.type()));
  }

 private:
  void forward(const Operands& operands) override {
    auto* const p =
        static_cast<float*>(operands.saved != nullptr ? operands.saved : between(sizeof(float)));
    multiply_to(p, operands);
    if (op_.sigmoid) {
      each(seat_.stream(), tokens_ * op_.experts, RouterSigmoid{p});
    } else {
      teams(seat_.stream(), tokens_, RouterSoftmax{p, op_.experts});
    }
    each(seat_.stream(), tokens_,
         RouterChoice{p, op_.correction ? operands.parameters + weight_ : nullptr, op_.experts,
                      op_.top_k, op_.groups, op_.top_groups});
    teams(seat_.stream(), tokens_,
          RouterGates<T>{scored(p), static_cast<T*>(operands.output.data)});
  }

  /// dx = dz w
  void backward_data(const Operands& operands) override {
    multiply(seat_, {logit_gradients(operands), tokens_, op_.experts},
             {kept_weight(operands), op_.experts, inputs_}, operands.input_gradients[0].data,
             seat_.type(), operands.adds_input_gradients);
  }

  /// dw = dz^T x
  void backward_weights(const Operands& operands) override {
    const void* const dz = logit_gradients(operands);
    if (op_.bias) {
      teams(seat_.stream(), op_.experts,
            RouterBiasGradient<T>{static_cast<const T*>(dz), tokens_, op_.experts,
                                  operands.parameter_gradients + weight_,
                                  operands.adds_parameter_gradients});
    }
    multiply(seat_, {dz, op_.experts, tokens_, true}, {operands.inputs[0].data, tokens_, inputs_},
             operands.parameter_gradients, Type::fp32, operands.adds_parameter_gradients);
    if (!op_.correction || operands.adds_parameter_gradients) return;
    clear(operands.parameter_gradients + weight_,
          op_.experts * static_cast<std::int64_t>(sizeof(float)), seat_.stream());
  }

  void update(const Operands& operands) override {
    update_parameters(operands, weight_ + (op_.correction || op_.bias ? op_.experts : 0), seat_);
  }

  /// p = x w^T + b
  void multiply_to(float* p, const Operands& operands) {
    const Matrix x{operands.inputs[0].data, tokens_, inputs_};
    auto* const parts = static_cast<Bf16*>(parts_.data());
    if (parts != nullptr) {
      each(seat_.stream(), weight_, SplitWeight{operands.parameters, parts, weight_});
    }
    multiply(seat_, x, {kept_weight(operands), inputs_, op_.experts, true}, p, Type::fp32);
    if (parts != nullptr) {
      multiply(seat_, x, {parts + weight_, inputs_, op_.experts, true}, p, Type::fp32, true);
    }
    if (!op_.bias) return;
    each(seat_.stream(), tokens_ * op_.experts,
         AddRouterBias{p, operands.parameters + weight_, op_.experts});
  }

  ScoredExperts scored(const void* p) const {
    return {static_cast<const float*>(p), op_.experts, op_.normalize, op_.sigmoid,
            static_cast<float>(op_.scale)};
  }
  void* between(std::size_t size) {
    return seat_.scratch(tokens_ * op_.experts * static_cast<std::int64_t>(size));
  }
  const void* logit_gradients(const Operands& operands) {
    auto* const dz = static_cast<T*>(between(sizeof(T)));
    teams(seat_.stream(), tokens_,
          RouterGradient<T>{scored(operands.saved),
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
