#include "tests/exec/reference/layers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "tests/exec/reference/ops.h"

namespace strata::reference {
namespace {

/// Calls visit(input, its index, the output's index) for every element that a concat moves.
template <class Visit>
void for_each_joined(const LayerCall& call, const Tensor& y, const Visit& visit) {
  std::int64_t offset = 0;
  for (std::size_t k = 0; k < call.inputs.size(); ++k) {
    const Tensor& x = *call.inputs[k];
    const std::int64_t run = x.extents[Dim::c] * x.plane();
    for (std::int64_t n = 0; n < x.extents[Dim::n]; ++n) {
      const std::int64_t first = y.index(n, offset, 0, 0, 0);
      for (std::int64_t i = 0; i < run; ++i) visit(k, n * run + i, first + i);
    }
    offset += x.extents[Dim::c];
  }
}

/// Calls visit(element of the first factor, that of the second) for every element of a product.
template <class Visit>
void for_each_factors(const LayerCall& call, const Visit& visit) {
  const Tensor &x = *call.inputs[0], &factor = *call.inputs[1];
  const std::int64_t each = x.size() / factor.size();  // a gate has one for d, h and w
  const std::int64_t plane = x.plane(), sample = x.extents[Dim::c] * plane;
  const bool of_positions = each > 1 && factor.extents[Dim::c] < x.extents[Dim::c];
  for (std::int64_t i = 0; i < x.size(); ++i) {
    visit(i, of_positions ? i / sample * plane + i % plane : i / each);
  }
}

/// A gated activation's value, and its derivatives by gate and factor.
struct Gated {
  double value, by_gate, by_factor;
};
Gated clamped_gate(const GatedActivation& op, double gate, double factor) {
  const double g = std::min(gate, op.limit), x = std::clamp(factor, -op.limit, op.limit);
  const double share = 1 / (1 + std::exp(-op.alpha * g));
  const double slope = share + op.alpha * g * share * (1 - share);
  return {g * share * (x + 1), gate <= op.limit ? slope * (x + 1) : 0,
          std::abs(factor) <= op.limit ? g * share : 0};
}

Activation of_gate(const GatedActivation& op) {
  return {op.kind == GateKind::silu ? ActivationKind::silu : ActivationKind::gelu};
}

Gated gated(const GatedActivation& op, double gate, double factor) {
  if (op.kind == GateKind::clamped) return clamped_gate(op, gate, factor);
  const double open = activate(of_gate(op), gate);
  return {open * factor, derivative(of_gate(op), gate) * factor, open};
}

struct Forward {
  const LayerCall& call;
  const Tensor& x = call.input();

  /// A tensor of the output's extents: as x, row-major.
  Tensor reshaped() const {
    Tensor y(call.layer().output);
    y.values = x.values;
    return y;
  }

  Tensor operator()(const Input&) const { return {}; }
  Tensor operator()(const Opaque&) const { return {}; }
  Tensor operator()(const Convolution& op) const { return convolution(call, op); }
  Tensor operator()(const Pooling& op) const { return pooling(call, op); }
  Tensor operator()(const AdaptivePooling& op) const { return adaptive_pooling(call, op); }
  Tensor operator()(const FullyConnected& op) const { return fully_connected(call, op); }
  Tensor operator()(const Linear& op) const { return linear(call, op); }
  Tensor operator()(const Attention& op) const { return attention(call, op); }
  Tensor operator()(const Embedding& op) const { return embedding(call, op); }
  Tensor operator()(const PositionEmbedding&) const { return position_embedding(call); }
  Tensor operator()(const Tokens&) const { return reshaped(); }
  Tensor operator()(const ClassToken&) const { return class_token(call); }
  Tensor operator()(const SelectToken& op) const { return select_token(call, op); }
  Tensor operator()(const Router& op) const { return router(call, op); }
  Tensor operator()(const Dispatch& op) const { return dispatch(call, op); }
  Tensor operator()(const ExpertLinear& op) const { return expert_linear(call, op); }
  Tensor operator()(const Combine& op) const { return combine(call, op); }
  Tensor operator()(const RmsNorm& op) const { return rms_norm(call, op); }
  Tensor operator()(const BatchNorm& op) const { return batch_norm(call, op); }
  Tensor operator()(const LayerNorm& op) const { return layer_norm(call, op); }
  Tensor operator()(const LocalResponseNorm& op) const { return local_response_norm(call, op); }
  Tensor operator()(const Flatten&) const { return reshaped(); }
  Tensor operator()(const SoftmaxCrossEntropy&) const { return softmax(x); }
  Tensor operator()(const Activation& op) const {
    Tensor y = reshaped();
    for (double& value : y.values) value = activate(op, value);
    return y;
  }
  Tensor operator()(const GatedActivation& op) const {
    Tensor y = reshaped();
    for (std::int64_t i = 0; i < y.size(); ++i) {
      y[i] = gated(op, x[i], (*call.inputs[1])[i]).value;
    }
    return y;
  }
  Tensor operator()(const Dropout&) const {
    Tensor y = reshaped();
    for (std::int64_t i = 0; i < y.size(); ++i) y[i] *= call.dropout_factor(i);
    return y;
  }
  Tensor operator()(const Concat&) const {
    Tensor y(call.layer().output);
    for_each_joined(call, y, [&](std::size_t k, std::int64_t in, std::int64_t out) {
      y[out] = (*call.inputs[k])[in];
    });
    return y;
  }
  Tensor operator()(const Add&) const {
    Tensor y(call.layer().output);
    for (const Tensor* input : call.inputs) {
      for (std::int64_t i = 0; i < y.size(); ++i) y[i] += (*input)[i];
    }
    return y;
  }
  Tensor operator()(const Multiply&) const {
    Tensor y(call.layer().output);
    for_each_factors(call, [&](std::int64_t i, std::int64_t k) {
      y[i] = (*call.inputs[0])[i] * (*call.inputs[1])[k];
    });
    return y;
  }
};

struct Backward {
  const LayerCall& call;
  const Tensor& y;
  const Tensor& dy;
  const Tensor& x = call.input();

  static Gradients only(Tensor dx) { return {{std::move(dx)}, {}}; }
  Tensor reshaped() const {
    Tensor dx(x.extents);
    dx.values = dy.values;
    return dx;
  }

  Gradients operator()(const Input&) const { return {}; }
  Gradients operator()(const Opaque&) const { return {}; }
  Gradients operator()(const Convolution& op) const { return convolution_backward(call, op, dy); }
  Gradients operator()(const Pooling& op) const { return only(pooling_backward(call, op, dy)); }
  Gradients operator()(const AdaptivePooling& op) const {
    return only(adaptive_pooling_backward(call, op, dy));
  }
  Gradients operator()(const FullyConnected& op) const {
    return fully_connected_backward(call, op, dy);
  }
  Gradients operator()(const Linear& op) const { return linear_backward(call, op, dy); }
  Gradients operator()(const Attention& op) const { return attention_backward(call, op, dy); }
  Gradients operator()(const Embedding& op) const { return embedding_backward(call, op, dy); }
  Gradients operator()(const PositionEmbedding&) const {
    return position_embedding_backward(call, dy);
  }
  Gradients operator()(const Tokens&) const { return only(reshaped()); }
  Gradients operator()(const ClassToken&) const { return class_token_backward(call, dy); }
  Gradients operator()(const SelectToken& op) const {
    return only(select_token_backward(call, op, dy));
  }
  Gradients operator()(const Router& op) const { return router_backward(call, op, dy); }
  Gradients operator()(const Dispatch& op) const { return dispatch_backward(call, op, dy); }
  Gradients operator()(const ExpertLinear& op) const {
    return expert_linear_backward(call, op, dy);
  }
  Gradients operator()(const Combine& op) const { return combine_backward(call, op, dy); }
  Gradients operator()(const RmsNorm& op) const { return rms_norm_backward(call, op, dy); }
  Gradients operator()(const BatchNorm& op) const { return batch_norm_backward(call, op, dy); }
  Gradients operator()(const LayerNorm& op) const { return layer_norm_backward(call, op, dy); }
  Gradients operator()(const LocalResponseNorm& op) const {
    return only(local_response_norm_backward(call, op, dy));
  }
  Gradients operator()(const Flatten&) const { return only(reshaped()); }
  Gradients operator()(const Activation& op) const {
    Tensor dx = reshaped();
    for (std::int64_t i = 0; i < dx.size(); ++i) dx[i] *= derivative(op, x[i]);
    return only(std::move(dx));
  }
  Gradients operator()(const GatedActivation& op) const {
    const Tensor& values = *call.inputs[1];
    Gradients g{{Tensor(x.extents), Tensor(x.extents)}, {}};
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const Gated at = gated(op, x[i], values[i]);
      g.inputs[0][i] = dy[i] * at.by_gate;
      g.inputs[1][i] = dy[i] * at.by_factor;
    }
    return g;
  }
  Gradients operator()(const Dropout&) const {
    Tensor dx = reshaped();
    for (std::int64_t i = 0; i < dx.size(); ++i) dx[i] *= call.dropout_factor(i);
    return only(std::move(dx));
  }
  Gradients operator()(const Concat&) const {
    Gradients g;
    for (const Tensor* input : call.inputs) g.inputs.emplace_back(input->extents);
    for_each_joined(call, dy, [&](std::size_t k, std::int64_t in, std::int64_t out) {
      g.inputs[k][in] = dy[out];
    });
    return g;
  }
  Gradients operator()(const Add&) const {
    return {std::vector<Tensor>(call.inputs.size(), dy), {}};
  }
  Gradients operator()(const Multiply&) const {
    const Tensor &first = *call.inputs[0], &second = *call.inputs[1];
    Gradients g{{Tensor(first.extents), Tensor(second.extents)}, {}};
    for_each_factors(call, [&](std::int64_t i, std::int64_t k) {
      g.inputs[0][i] = dy[i] * second[k];
      g.inputs[1][k] += dy[i] * first[i];
    });
    return g;
  }
  /// (p - y) / positions of the batch, with y the label's unit vector.
  Gradients operator()(const SoftmaxCrossEntropy&) const {
    Tensor dx = y;
    std::size_t next = 0;
    for (std::int64_t n = 0; n < y.extents[Dim::n]; ++n) {
      for (std::int64_t w = 0; w < y.plane(); ++w) {
        dx[y.index(n, call.labels[next++], 0, 0, 0) + w] -= 1;
      }
    }
    for (double& value : dx.values) value /= static_cast<double>(next);
    return only(std::move(dx));
  }
};

}  // namespace

Tensor forward(const LayerCall& call) {
  return std::visit(Forward{call}, call.layer().op);
}

Gradients backward(const LayerCall& call, const Tensor& output, const Tensor& output_gradient) {
  return std::visit(Backward{call, output, output_gradient}, call.layer().op);
}

}  // namespace strata::reference
