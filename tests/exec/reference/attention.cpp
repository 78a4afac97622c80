#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <numeric>

#include "tests/exec/reference/ops.h"

namespace strata::reference {
namespace {

/// Turns each pair of channels (i, i + r/2) of the r of a head that are turned by the angle
/// position base^(-2 i / r), times `way`: -1 turns back.
Tensor turned(const Tensor& x, const Attention& op, double way) {
  if (op.rotary == 0) return x;
  Tensor y = x;
  const std::int64_t size = op.shared_size > 0   ? op.shared_size
                            : op.rotary_size > 0 ? op.rotary_size
                                                 : op.head_size;
  const std::int64_t half = size / 2, behind = op.shared_size > 0 ? op.head_size - size : 0;
  for (std::int64_t n = 0; n < x.extents[Dim::n]; ++n)
    for (std::int64_t c = behind; c < x.extents[Dim::c]; c += op.head_size)
      for (std::int64_t i = 0; i < half; ++i)
        for (std::int64_t w = 0; w < x.extents[Dim::w]; ++w) {
          const double exponent = -2 * static_cast<double>(i) / static_cast<double>(size);
          const double angle = way * static_cast<double>(w) * std::pow(op.rotary, exponent);
          const double a = x.at(n, c + i, 0, 0, w), b = x.at(n, c + i + half, 0, 0, w);
          y.at(n, c + i, 0, 0, w) = a * std::cos(angle) - b * std::sin(angle);
          y.at(n, c + i + half, 0, 0, w) = a * std::sin(angle) + b * std::cos(angle);
        }
  return y;
}

std::int64_t value_size(const Attention& op) {
  return op.value_size > 0 ? op.value_size : op.head_size;
}

/// visit(n, head, w, channel of the whole key, whether it is shared, channel of its input).
template <class Visit>
void each_key_channel(const LayerCall& call, const Attention& op, const Visit& visit) {
  const Extents& own = call.inputs[1]->extents;
  const std::int64_t size = op.head_size - op.shared_size;
  for (std::int64_t n = 0; n < own[Dim::n]; ++n)
    for (std::int64_t head = 0; head < own[Dim::c] / size; ++head)
      for (std::int64_t w = 0; w < own[Dim::w]; ++w)
        for (std::int64_t c = 0; c < op.head_size; ++c)
          visit(n, w, head * op.head_size + c, c >= size, c >= size ? c - size : head * size + c);
}

/// Keys with what they share.
Tensor whole_keys(const LayerCall& call, const Attention& op) {
  Extents extents = call.inputs[1]->extents;
  extents[Dim::c] = extents[Dim::c] / (op.head_size - op.shared_size) * op.head_size;
  Tensor k(extents);
  each_key_channel(
      call, op,
      [&](std::int64_t n, std::int64_t w, std::int64_t c, bool is_shared, std::int64_t from) {
        k.at(n, c, 0, 0, w) = call.inputs[is_shared ? 3 : 1]->at(n, from, 0, 0, w);
      });
  return k;
}

/// Of T5's code, in words of ours: how far a key lies behind its query, halves of the buckets for
/// either side where both are seen, and of these one each for the smallest distances.
std::size_t bucket(const Attention& op, std::int64_t query, std::int64_t key) {
  std::int64_t buckets = op.buckets, first = 0, far = query - key;
  if (!op.causal) {
    buckets /= 2;
    if (key > query) first = buckets;
    far = std::abs(far);
  }
  if (far < buckets / 2) return static_cast<std::size_t>(first + far);
  const auto exact = static_cast<double>(buckets / 2);
  const double part = std::log2(static_cast<double>(far) / exact) /
                      std::log2(static_cast<double>(op.max_distance) / exact);
  const auto behind =
      static_cast<std::int64_t>(part * (static_cast<double>(buckets) - exact) + 1e-7);
  return static_cast<std::size_t>(first + std::min(buckets - 1, buckets / 2 + behind));
}

/// One head of queries with the head of keys and values that serves it.
struct Head {
  const LayerCall& call;
  const Attention& op;
  const Tensor &q, &k, &v;  ///< queries and keys turned
  std::int64_t n, of_queries, of_keys;

  std::int64_t queries() const { return q.extents[Dim::w]; }
  std::int64_t keys() const { return k.extents[Dim::w]; }
  double scale() const {
    return op.scale > 0 ? op.scale : 1 / std::sqrt(static_cast<double>(op.head_size));
  }
  /// What the softmax takes of query i and key j.
  double score(std::int64_t i, std::int64_t j) const {
    double product = 0;
    each_channel([&](std::int64_t cq, std::int64_t ck) {
      product += q.at(n, cq, 0, 0, i) * k.at(n, ck, 0, 0, j);
    });
    double s = scale() * product;
    if (op.buckets > 0) s += call.weights->weight[parameter(i, j)];
    return op.softcap > 0 ? op.softcap * std::tanh(s / op.softcap) : s;
  }
  /// Of the weight, the number that score() adds.
  std::size_t parameter(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(of_queries * op.buckets) + bucket(op, i, j);
  }
  /// exp() of the sink's score.
  double sink() const {
    return op.sinks ? std::exp(call.weights->weight[static_cast<std::size_t>(of_queries)]) : 0;
  }
  /// The derivative of score() by the product of query and key.
  double slope(std::int64_t i, std::int64_t j) const {
    if (op.softcap == 0) return scale();
    const double share = score(i, j) / op.softcap;
    return scale() * (1 - share * share);
  }
  bool sees(std::int64_t i, std::int64_t j) const {
    if (!op.causal) return true;
    return j <= i && (op.window == 0 || j > i - op.window);
  }
  /// f(its channel among the queries', among the keys')
  template <class F>
  void each_channel(const F& f) const {
    for (std::int64_t c = 0; c < op.head_size; ++c) {
      f(of_queries * op.head_size + c, of_keys * op.head_size + c);
    }
  }
  /// f(its channel among the output's, among the values')
  template <class F>
  void each_value(const F& f) const {
    for (std::int64_t c = 0; c < value_size(op); ++c) {
      f(of_queries * value_size(op) + c, of_keys * value_size(op) + c);
    }
  }

  /// softmax(scores) of query i.
  std::vector<double> weights(std::int64_t i) const {
    std::vector<double> row(static_cast<std::size_t>(keys()));
    for (std::int64_t j = 0; j < keys(); ++j) {
      if (sees(i, j)) row[static_cast<std::size_t>(j)] = std::exp(score(i, j));
    }
    const double sum = std::accumulate(row.begin(), row.end(), sink());
    for (double& value : row) value /= sum;
    return row;
  }
  /// What the dropout multiplies each weight of query i with.
  std::vector<double> factors(std::int64_t i) const {
    std::vector<double> row(static_cast<std::size_t>(keys()), 1);
    if (op.dropout == 0) return row;
    const std::int64_t heads = q.extents[Dim::c] / op.head_size;
    const std::int64_t first = ((n * heads + of_queries) * queries() + i) * keys();
    for (std::size_t j = 0; j < row.size(); ++j) {
      row[j] = call.dropout_factor(first + static_cast<std::int64_t>(j));
    }
    return row;
  }
};

template <class Visit>
void each_head(const LayerCall& call, const Attention& op, const Tensor& q, const Tensor& k,
               const Visit& visit) {
  const Tensor& v = *call.inputs[2];
  const std::int64_t group = q.extents[Dim::c] / k.extents[Dim::c];
  for (std::int64_t n = 0; n < q.extents[Dim::n]; ++n) {
    for (std::int64_t head = 0; head < q.extents[Dim::c] / op.head_size; ++head) {
      visit(Head{call, op, q, k, v, n, head, head / group});
    }
  }
}

}  // namespace

Tensor attention(const LayerCall& call, const Attention& op) {
  const Tensor q = turned(*call.inputs[0], op, 1), k = turned(whole_keys(call, op), op, 1);
  Tensor y(call.layer().output);
  each_head(call, op, q, k, [&](const Head& head) {
    for (std::int64_t i = 0; i < head.queries(); ++i) {
      const std::vector<double> p = head.weights(i), kept = head.factors(i);
      head.each_value([&](std::int64_t cq, std::int64_t ck) {
        for (std::int64_t j = 0; j < head.keys(); ++j) {
          const auto at = static_cast<std::size_t>(j);
          y.at(head.n, cq, 0, 0, i) += p[at] * kept[at] * head.v.at(head.n, ck, 0, 0, j);
        }
      });
    }
  });
  return y;
}

// With s = scale q k' or its softcap, p = softmax(s), m the dropout: dp_j = m_j dy v_j, ds_j = p_j
// (dp_j - sum_k p_k dp_k); of a sink, with the weight 1 - sum_k p_k and no value, the same.
Gradients attention_backward(const LayerCall& call, const Attention& op, const Tensor& dy) {
  const Tensor q = turned(*call.inputs[0], op, 1), k = turned(whole_keys(call, op), op, 1);
  Tensor dq(q.extents), dk(k.extents), dv(call.inputs[2]->extents);
  std::vector<double> of_weight(call.weights->weight.size());
  each_head(call, op, q, k, [&](const Head& head) {
    const std::int64_t n = head.n;
    for (std::int64_t i = 0; i < head.queries(); ++i) {
      const std::vector<double> p = head.weights(i), kept = head.factors(i);
      std::vector<double> dp(p.size());
      for (std::size_t j = 0; j < p.size(); ++j) {
        const auto at = static_cast<std::int64_t>(j);
        head.each_value([&](std::int64_t cq, std::int64_t ck) {
          dp[j] += kept[j] * dy.at(n, cq, 0, 0, i) * head.v.at(n, ck, 0, 0, at);
          dv.at(n, ck, 0, 0, at) += p[j] * kept[j] * dy.at(n, cq, 0, 0, i);
        });
      }
      const double mean = std::inner_product(p.begin(), p.end(), dp.begin(), 0.0);
      if (op.sinks) {
        const double rest = 1 - std::accumulate(p.begin(), p.end(), 0.0);
        of_weight[static_cast<std::size_t>(head.of_queries)] -= rest * mean;
      }
      for (std::size_t j = 0; j < p.size(); ++j) {
        const auto at = static_cast<std::int64_t>(j);
        if (!head.sees(i, at)) continue;
        const double ds = p[j] * (dp[j] - mean) * head.slope(i, at);
        if (op.buckets > 0) of_weight[head.parameter(i, at)] += p[j] * (dp[j] - mean);
        head.each_channel([&](std::int64_t cq, std::int64_t ck) {
          dq.at(n, cq, 0, 0, i) += ds * k.at(n, ck, 0, 0, at);
          dk.at(n, ck, 0, 0, at) += ds * q.at(n, cq, 0, 0, i);
        });
      }
    }
  });
  dk = turned(dk, op, -1);
  Gradients g{{turned(dq, op, -1), Tensor(call.inputs[1]->extents), dv}, {of_weight, {}}};
  if (op.shared_size > 0) g.inputs.emplace_back(call.inputs[3]->extents);
  each_key_channel(
      call, op,
      [&](std::int64_t n, std::int64_t w, std::int64_t c, bool is_shared, std::int64_t from) {
        g.inputs[is_shared ? 3 : 1].at(n, from, 0, 0, w) += dk.at(n, c, 0, 0, w);
      });
  return g;
}

}  // namespace strata::reference
