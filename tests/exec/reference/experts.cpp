#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "tests/exec/reference/ops.h"

namespace strata::reference {
namespace {

template <class Visit>
void each_token(const Tensor& x, const Visit& visit) {
  for (std::int64_t n = 0; n < x.extents[Dim::n]; ++n) {
    for (std::int64_t w = 0; w < x.extents[Dim::w]; ++w) visit(n, w);
  }
}

/// A token's scores of the experts, which of them it has, and what scores are divided by.
struct Choice {
  std::vector<double> p;
  std::vector<bool> has;
  double divisor = 1;

  Choice(const LayerCall& call, const Router& op, std::int64_t n, std::int64_t w)
      : p(static_cast<std::size_t>(op.experts)), has(p.size()) {
    const Tensor& x = call.input();
    const std::int64_t inputs = x.extents[Dim::c];
    double sum = 0;
    for (std::size_t e = 0; e < p.size(); ++e) {
      for (std::int64_t i = 0; i < inputs; ++i) {
        const auto k = e * static_cast<std::size_t>(inputs) + static_cast<std::size_t>(i);
        p[e] += call.weights->weight[k] * x.at(n, i, 0, 0, w);
      }
      p[e] = std::exp(p[e] + (op.bias ? call.weights->bias[e] : 0));
      sum += p[e];
    }
    for (double& each : p) each /= op.sigmoid ? 1 + each : sum;
    choose(op, call.weights->bias);
    double of_chosen = 0;
    for (std::size_t e = 0; e < p.size(); ++e) of_chosen += has[e] ? p[e] : 0;
    if (op.normalize) divisor = of_chosen;
  }

  // Experts by rank, of the best groups alone.
  void choose(const Router& op, const std::vector<double>& correction) {
    std::vector<double> ranks = p;
    for (std::size_t e = 0; op.correction && e < p.size(); ++e) ranks[e] += correction[e];
    const std::size_t size = p.size() / static_cast<std::size_t>(op.groups);
    std::vector<double> groups;
    for (std::size_t first = 0; first < p.size(); first += size) {
      const std::vector<double> own = sorted({&ranks[first], &ranks[first] + size});
      groups.push_back(op.correction && op.groups > 1 ? own[0] + own[1] : own[0]);
    }
    const double least_group = sorted(groups)[static_cast<std::size_t>(op.top_groups) - 1];
    std::vector<double> left;
    for (std::size_t e = 0; e < p.size(); ++e) {
      has[e] = groups[e / size] >= least_group;
      if (has[e]) left.push_back(ranks[e]);
    }
    const double least = sorted(left)[static_cast<std::size_t>(op.top_k) - 1];
    for (std::size_t e = 0; e < p.size(); ++e) has[e] = has[e] && ranks[e] >= least;
  }
  static std::vector<double> sorted(std::vector<double> values) {
    std::sort(values.rbegin(), values.rend());
    return values;
  }
};

/// visit(n, expert, token, slot) for each that is taken, by the gates.
template <class Visit>
void each_taken(const Tensor& gates, std::int64_t groups, std::int64_t slots, const Visit& visit) {
  const std::int64_t of_group = gates.extents[Dim::w] / groups, room = slots / groups;
  for (std::int64_t n = 0; n < gates.extents[Dim::n]; ++n) {
    for (std::int64_t e = 0; e < gates.extents[Dim::c]; ++e) {
      std::vector<std::int64_t> taken(static_cast<std::size_t>(groups));
      for (std::int64_t w = 0; w < gates.extents[Dim::w]; ++w) {
        std::int64_t& next = taken[static_cast<std::size_t>(w / of_group)];
        if (gates.at(n, e, 0, 0, w) <= 0 || next == room) continue;
        visit(n, e, w, w / of_group * room + next++);
      }
    }
  }
}

}  // namespace

Tensor router(const LayerCall& call, const Router& op) {
  Tensor y(call.layer().output);
  each_token(y, [&](std::int64_t n, std::int64_t w) {
    const Choice choice(call, op, n, w);
    for (std::size_t e = 0; e < choice.p.size(); ++e) {
      if (choice.has[e]) {
        y.at(n, static_cast<std::int64_t>(e), 0, 0, w) = op.scale * choice.p[e] / choice.divisor;
      }
    }
  });
  return y;
}

// By the quotient's and the scores' derivatives: of gate a in score b, scale ([a = b] - p_a / sum)
// / sum normalised, else scale [a = b]; of score b in logit c, p_b ([b = c] - p_c) of a softmax,
// p_b (1 - p_b) [b = c] of sigmoids.
Gradients router_backward(const LayerCall& call, const Router& op, const Tensor& dy) {
  const Tensor& x = call.input();
  const auto inputs = static_cast<std::size_t>(x.extents[Dim::c]);
  Gradients g{{Tensor(x.extents)},
              {std::vector<double>(call.weights->weight.size()),
               std::vector<double>(call.weights->bias.size())}};
  each_token(dy, [&](std::int64_t n, std::int64_t w) {
    const Choice choice(call, op, n, w);
    const std::vector<double>& p = choice.p;
    std::vector<double> dp(p.size()), dz(p.size());
    for (std::size_t a = 0; a < p.size(); ++a) {
      if (!choice.has[a]) continue;
      const double dg = op.scale * dy.at(n, static_cast<std::int64_t>(a), 0, 0, w) / choice.divisor;
      for (std::size_t b = 0; b < p.size(); ++b) {
        if (!choice.has[b]) continue;
        const double share = op.normalize ? p[a] / choice.divisor : 0;
        dp[b] += dg * ((a == b ? 1 : 0) - share);
      }
    }
    for (std::size_t b = 0; b < p.size(); ++b) {
      for (std::size_t c = 0; c < p.size(); ++c) {
        const double slope = op.sigmoid ? (b == c ? 1 - p[b] : 0) : (b == c ? 1 : 0) - p[c];
        dz[c] += dp[b] * p[b] * slope;
      }
    }
    for (std::size_t b = 0; b < p.size(); ++b) {
      if (op.bias) g.weights.bias[b] += dz[b];
      for (std::size_t i = 0; i < inputs; ++i) {
        const auto c = static_cast<std::int64_t>(i);
        g.inputs[0].at(n, c, 0, 0, w) += dz[b] * call.weights->weight[b * inputs + i];
        g.weights.weight[b * inputs + i] += dz[b] * x.at(n, c, 0, 0, w);
      }
    }
  });
  return g;
}

Tensor dispatch(const LayerCall& call, const Dispatch& op) {
  Tensor y(call.layer().output);
  each_taken(*call.inputs[1], op.groups, y.extents[Dim::w],
             [&](std::int64_t n, std::int64_t e, std::int64_t token, std::int64_t slot) {
               for (std::int64_t c = 0; c < y.extents[Dim::c]; ++c) {
                 y.at(n, c, e, 0, slot) = call.input().at(n, c, 0, 0, token);
               }
             });
  return y;
}

Gradients dispatch_backward(const LayerCall& call, const Dispatch& op, const Tensor& dy) {
  Gradients g{{Tensor(call.input().extents), Tensor(call.inputs[1]->extents)}, {}};
  each_taken(*call.inputs[1], op.groups, dy.extents[Dim::w],
             [&](std::int64_t n, std::int64_t e, std::int64_t token, std::int64_t slot) {
               for (std::int64_t c = 0; c < dy.extents[Dim::c]; ++c) {
                 g.inputs[0].at(n, c, 0, 0, token) += dy.at(n, c, e, 0, slot);
               }
             });
  return g;
}

namespace {

/// Calls visit(place in the output, in the input, in the weight) for each product of all sums.
template <class Visit>
void each_term(const LayerCall& call, const Visit& visit) {
  const Tensor& x = call.input();
  const Extents& out = call.layer().output;
  const Tensor y(out);
  const std::int64_t inputs = x.extents[Dim::c];
  for (std::int64_t n = 0; n < out[Dim::n]; ++n)
    for (std::int64_t o = 0; o < out[Dim::c]; ++o)
      for (std::int64_t e = 0; e < out[Dim::d]; ++e)
        for (std::int64_t i = 0; i < inputs; ++i)
          for (std::int64_t w = 0; w < out[Dim::w]; ++w)
            visit(y.index(n, o, e, 0, w), x.index(n, i, e, 0, w),
                  static_cast<std::size_t>((e * out[Dim::c] + o) * inputs + i));
}

}  // namespace

namespace {

/// Calls visit(element, its bias) for each element of the output.
template <class Visit>
void each_bias(const Tensor& y, const Visit& visit) {
  const Extents& e = y.extents;
  const std::int64_t row = e[Dim::d] * e[Dim::w];
  for (std::int64_t i = 0; i < y.size(); ++i) {
    const std::int64_t channel = i / row % e[Dim::c], expert = i / e[Dim::w] % e[Dim::d];
    visit(i, static_cast<std::size_t>(expert * e[Dim::c] + channel));
  }
}

}  // namespace

// Of the weight (experts, O, I), (e * O + o) * I + i; of the bias, e * O + o.
Tensor expert_linear(const LayerCall& call, const ExpertLinear& op) {
  Tensor y(call.layer().output);
  if (op.bias) {
    each_bias(y, [&](std::int64_t i, std::size_t k) { y[i] = call.weights->bias[k]; });
  }
  each_term(call, [&](std::int64_t out, std::int64_t in, std::size_t k) {
    y[out] += call.weights->weight[k] * call.input()[in];
  });
  return y;
}

Gradients expert_linear_backward(const LayerCall& call, const ExpertLinear& op, const Tensor& dy) {
  Gradients g{{Tensor(call.input().extents)},
              {std::vector<double>(call.weights->weight.size()),
               std::vector<double>(call.weights->bias.size())}};
  if (op.bias) {
    each_bias(dy, [&](std::int64_t i, std::size_t k) { g.weights.bias[k] += dy[i]; });
  }
  each_term(call, [&](std::int64_t out, std::int64_t in, std::size_t k) {
    g.inputs[0][in] += call.weights->weight[k] * dy[out];
    g.weights.weight[k] += call.input()[in] * dy[out];
  });
  return g;
}

Tensor combine(const LayerCall& call, const Combine& op) {
  const Tensor &slots = call.input(), &gates = *call.inputs[1];
  Tensor y(call.layer().output);
  each_taken(gates, op.groups, slots.extents[Dim::w],
             [&](std::int64_t n, std::int64_t e, std::int64_t token, std::int64_t slot) {
               for (std::int64_t c = 0; c < y.extents[Dim::c]; ++c) {
                 y.at(n, c, 0, 0, token) +=
                     gates.at(n, e, 0, 0, token) * slots.at(n, c, e, 0, slot);
               }
             });
  return y;
}

Gradients combine_backward(const LayerCall& call, const Combine& op, const Tensor& dy) {
  const Tensor &slots = call.input(), &gates = *call.inputs[1];
  Gradients g{{Tensor(slots.extents), Tensor(gates.extents)}, {}};
  each_taken(gates, op.groups, slots.extents[Dim::w],
             [&](std::int64_t n, std::int64_t e, std::int64_t token, std::int64_t slot) {
               for (std::int64_t c = 0; c < dy.extents[Dim::c]; ++c) {
                 const double of_token = dy.at(n, c, 0, 0, token);
                 g.inputs[0].at(n, c, e, 0, slot) = of_token * gates.at(n, e, 0, 0, token);
                 g.inputs[1].at(n, e, 0, 0, token) += of_token * slots.at(n, c, e, 0, slot);
               }
             });
  return g;
}

}  // namespace strata::reference
