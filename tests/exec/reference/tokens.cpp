#include <cmath>
#include <cstddef>

#include "tests/exec/reference/ops.h"

namespace strata::reference {
namespace {

/// Calls visit(n, c, place in the plane) for every element.
template <class Visit>
void each_place(const Tensor& x, const Visit& visit) {
  for (std::int64_t n = 0; n < x.extents[Dim::n]; ++n)
    for (std::int64_t c = 0; c < x.extents[Dim::c]; ++c)
      for (std::int64_t i = 0; i < x.plane(); ++i) visit(n, c, i);
}

/// Of a sample and a place in its plane, the number that stands there, from 0.
std::int64_t number_at(const Tensor& numbers, std::int64_t n, std::int64_t w) {
  return std::llround(numbers.at(n, 0, 0, 0, w));
}

}  // namespace

// Of the weight (O, I), o * I + i.
Tensor linear(const LayerCall& call, const Linear& op) {
  const Tensor& x = call.input();
  const std::int64_t inputs = x.extents[Dim::c];
  Tensor y(call.layer().output);
  each_place(y, [&](std::int64_t n, std::int64_t o, std::int64_t place) {
    double sum = op.bias ? call.weights->bias[static_cast<std::size_t>(o)] : 0;
    for (std::int64_t i = 0; i < inputs; ++i) {
      sum += call.weights->weight[static_cast<std::size_t>(o * inputs + i)] *
             x[x.index(n, i, 0, 0, 0) + place];
    }
    y[y.index(n, o, 0, 0, 0) + place] = sum;
  });
  return y;
}

Gradients linear_backward(const LayerCall& call, const Linear& op, const Tensor& dy) {
  const Tensor& x = call.input();
  const std::int64_t inputs = x.extents[Dim::c];
  Weights dp = {std::vector<double>(call.weights->weight.size()),
                std::vector<double>(call.weights->bias.size())};
  Tensor dx(x.extents);
  each_place(dy, [&](std::int64_t n, std::int64_t o, std::int64_t place) {
    const double g = dy[dy.index(n, o, 0, 0, 0) + place];
    if (op.bias) dp.bias[static_cast<std::size_t>(o)] += g;
    for (std::int64_t i = 0; i < inputs; ++i) {
      const auto k = static_cast<std::size_t>(o * inputs + i);
      const std::int64_t at = x.index(n, i, 0, 0, 0) + place;
      dx[at] += call.weights->weight[k] * g;
      dp.weight[k] += x[at] * g;
    }
  });
  return {{dx}, dp};
}

// Of the weight (vocabulary, features), number * features + c.
Tensor embedding(const LayerCall& call, const Embedding& op) {
  Tensor y(call.layer().output);
  each_place(y, [&](std::int64_t n, std::int64_t c, std::int64_t w) {
    const std::int64_t number = number_at(call.input(), n, w);
    y.at(n, c, 0, 0, w) =
        op.scale * call.weights->weight[static_cast<std::size_t>(number * op.features + c)];
  });
  return y;
}

Gradients embedding_backward(const LayerCall& call, const Embedding& op, const Tensor& dy) {
  Weights dp = {std::vector<double>(call.weights->weight.size()), {}};
  each_place(dy, [&](std::int64_t n, std::int64_t c, std::int64_t w) {
    const std::int64_t number = number_at(call.input(), n, w);
    dp.weight[static_cast<std::size_t>(number * op.features + c)] +=
        op.scale * dy.at(n, c, 0, 0, w);
  });
  return {{Tensor(call.input().extents)}, dp};
}

// Of the weight (C, positions), c * positions + w.
Tensor position_embedding(const LayerCall& call) {
  Tensor y = call.input();
  const auto positions = static_cast<std::int64_t>(call.weights->weight.size()) / y.extents[Dim::c];
  each_place(y, [&](std::int64_t n, std::int64_t c, std::int64_t w) {
    y.at(n, c, 0, 0, w) += call.weights->weight[static_cast<std::size_t>(c * positions + w)];
  });
  return y;
}

Gradients position_embedding_backward(const LayerCall& call, const Tensor& dy) {
  Weights dp = {std::vector<double>(call.weights->weight.size()), {}};
  const auto positions = static_cast<std::int64_t>(dp.weight.size()) / dy.extents[Dim::c];
  each_place(dy, [&](std::int64_t n, std::int64_t c, std::int64_t w) {
    dp.weight[static_cast<std::size_t>(c * positions + w)] += dy.at(n, c, 0, 0, w);
  });
  return {{dy}, dp};
}

Tensor class_token(const LayerCall& call) {
  Tensor y(call.layer().output);
  each_place(y, [&](std::int64_t n, std::int64_t c, std::int64_t w) {
    y.at(n, c, 0, 0, w) = w == 0 ? call.weights->weight[static_cast<std::size_t>(c)]
                                 : call.input().at(n, c, 0, 0, w - 1);
  });
  return y;
}

Gradients class_token_backward(const LayerCall& call, const Tensor& dy) {
  Weights dp = {std::vector<double>(call.weights->weight.size()), {}};
  Tensor dx(call.input().extents);
  each_place(dy, [&](std::int64_t n, std::int64_t c, std::int64_t w) {
    const double g = dy.at(n, c, 0, 0, w);
    w == 0 ? dp.weight[static_cast<std::size_t>(c)] += g : dx.at(n, c, 0, 0, w - 1) = g;
  });
  return {{dx}, dp};
}

Tensor select_token(const LayerCall& call, const SelectToken& op) {
  Tensor y(call.layer().output);
  each_place(y, [&](std::int64_t n, std::int64_t c, std::int64_t) {
    y.at(n, c, 0, 0, 0) = call.input().at(n, c, 0, 0, op.position);
  });
  return y;
}

Tensor select_token_backward(const LayerCall& call, const SelectToken& op, const Tensor& dy) {
  Tensor dx(call.input().extents);
  each_place(dy, [&](std::int64_t n, std::int64_t c, std::int64_t) {
    dx.at(n, c, 0, 0, op.position) = dy.at(n, c, 0, 0, 0);
  });
  return dx;
}

}  // namespace strata::reference
