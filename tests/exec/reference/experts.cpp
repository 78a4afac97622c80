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

/// A token's softmax over the experts, which of them it has, and what gates are divided by.
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
      p[e] = std::exp(p[e]);
      sum += p[e];
    }
    for (double& each : p) each /= sum;
    std::vector<double> sorted = p;
    std::sort(sorted.rbegin(), sorted.rend());
    const double least = sorted[static_cast<std::size_t>(op.top_k) - 1];
    double of_chosen = 0;
    for (std::size_t e = 0; e < p.size(); ++e) {
      has[e] = p[e] >= least;
      of_chosen += has[e] ? p[e] : 0;
    }
    if (op.normalize) divisor = of_chosen;
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
        y.at(n, static_cast<std::int64_t>(e), 0, 0, w) = choice.p[e] / choice.divisor;
      }
    }
  });
  return y;
}

// By the quotient's and the exponentials' derivatives: of gate a in logit b, g_a ([a = b] - q_b),
// where q is the softmax, normalised that of the chosen alone.
Gradients router_backward(const LayerCall& call, const Router& op, const Tensor& dy) {
  const Tensor& x = call.input();
  const auto inputs = static_cast<std::size_t>(x.extents[Dim::c]);
  Gradients g{{Tensor(x.extents)}, {std::vector<double>(call.weights->weight.size()), {}}};
  each_token(dy, [&](std::int64_t n, std::int64_t w) {
    const Choice choice(call, op, n, w);
    for (std::size_t b = 0; b < choice.p.size(); ++b) {
      double dz = 0;
      for (std::size_t a = 0; a < choice.p.size(); ++a) {
        if (!choice.has[a] || (op.normalize && !choice.has[b])) continue;
        const double gate = choice.p[a] / choice.divisor, q = choice.p[b] / choice.divisor;
        dz += dy.at(n, static_cast<std::int64_t>(a), 0, 0, w) * gate * ((a == b ? 1 : 0) - q);
      }
      for (std::size_t i = 0; i < inputs; ++i) {
        const auto c = static_cast<std::int64_t>(i);
        g.inputs[0].at(n, c, 0, 0, w) += dz * call.weights->weight[b * inputs + i];
        g.weights.weight[b * inputs + i] += dz * x.at(n, c, 0, 0, w);
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

// Of the weight (experts, O, I), (e * O + o) * I + i.
Tensor expert_linear(const LayerCall& call) {
  Tensor y(call.layer().output);
  each_term(call, [&](std::int64_t out, std::int64_t in, std::size_t k) {
    y[out] += call.weights->weight[k] * call.input()[in];
  });
  return y;
}

Gradients expert_linear_backward(const LayerCall& call, const Tensor& dy) {
  Gradients g{{Tensor(call.input().extents)},
              {std::vector<double>(call.weights->weight.size()), {}}};
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
