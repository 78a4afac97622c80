#include <algorithm>
#include <cmath>
#include <cstddef>

#include "tests/exec/reference/ops.h"

namespace strata::reference {
namespace {

/// Calls visit(index) for every element of a channel, over n, d, h, w.
template <class Visit>
void for_each_of_channel(const Tensor& x, std::int64_t c, const Visit& visit) {
  for (std::int64_t n = 0; n < x.extents[Dim::n]; ++n) {
    const std::int64_t first = x.index(n, c, 0, 0, 0);
    for (std::int64_t i = 0; i < x.plane(); ++i) visit(first + i);
  }
}

struct Moments {
  double mean = 0;
  double deviation = 0;  ///< sqrt(variance + epsilon)
};

Moments moments(const Tensor& x, std::int64_t c, double epsilon) {
  const double count = static_cast<double>(x.extents[Dim::n] * x.plane());
  double sum = 0, squares = 0;
  for_each_of_channel(x, c, [&](std::int64_t i) { sum += x[i]; });
  const double mean = sum / count;
  for_each_of_channel(x, c, [&](std::int64_t i) { squares += (x[i] - mean) * (x[i] - mean); });
  return {mean, std::sqrt(squares / count + epsilon)};
}

/// k + alpha/size * sum over the neighbouring channels of x^2.
double neighbourhood(const Tensor& x, const LocalResponseNorm& op, std::int64_t n, std::int64_t c,
                     std::int64_t i) {
  double squares = 0;
  for (std::int64_t at = c - (op.size - 1) / 2; at <= c + op.size / 2; ++at) {
    if (at < 0 || at >= x.extents[Dim::c]) continue;
    const double value = x[x.index(n, at, 0, 0, 0) + i];
    squares += value * value;
  }
  return op.k + op.alpha / static_cast<double>(op.size) * squares;
}

/// Calls visit(n, place in the plane) for every position.
template <class Visit>
void for_each_position(const Tensor& x, const Visit& visit) {
  for (std::int64_t n = 0; n < x.extents[Dim::n]; ++n)
    for (std::int64_t i = 0; i < x.plane(); ++i) visit(n, i);
}

/// Over the channels of a position.
Moments moments_at(const Tensor& x, std::int64_t n, std::int64_t i, double epsilon) {
  const std::int64_t channels = x.extents[Dim::c];
  const auto at = [&](std::int64_t c) { return x[x.index(n, c, 0, 0, 0) + i]; };
  double sum = 0, squares = 0;
  for (std::int64_t c = 0; c < channels; ++c) sum += at(c);
  const double mean = sum / static_cast<double>(channels);
  for (std::int64_t c = 0; c < channels; ++c) squares += (at(c) - mean) * (at(c) - mean);
  return {mean, std::sqrt(squares / static_cast<double>(channels) + epsilon)};
}

/// Of channels that are normalised together.
double root_mean_square(const Tensor& x, std::int64_t n, Interval channels, std::int64_t i,
                        double epsilon) {
  double squares = 0;
  for (std::int64_t c = channels.begin; c < channels.end; ++c) {
    const double value = x[x.index(n, c, 0, 0, 0) + i];
    squares += value * value;
  }
  return std::sqrt(squares / static_cast<double>(channels.size()) + epsilon);
}
/// The channels that a channel is normalised with: all, or those of its head.
Interval together(const Tensor& x, const RmsNorm& op, std::int64_t c) {
  if (op.head_size == 0) return {0, x.extents[Dim::c]};
  const std::int64_t first = c / op.head_size * op.head_size;
  return {first, first + op.head_size};
}

/// Of a position's logits: the largest, and the sum of exp(x - largest).
struct Exponentials {
  double top = -HUGE_VAL, sum = 0;
};
Exponentials exponentials(const Tensor& logits, std::int64_t n, std::int64_t i) {
  const auto at = [&](std::int64_t c) { return logits[logits.index(n, c, 0, 0, 0) + i]; };
  Exponentials e;
  for (std::int64_t c = 0; c < logits.extents[Dim::c]; ++c) e.top = std::max(e.top, at(c));
  for (std::int64_t c = 0; c < logits.extents[Dim::c]; ++c) e.sum += std::exp(at(c) - e.top);
  return e;
}

/// Calls visit(n, c, place in the plane) for every element.
template <class Visit>
void for_each_place(const Tensor& x, const Visit& visit) {
  for (std::int64_t n = 0; n < x.extents[Dim::n]; ++n)
    for (std::int64_t c = 0; c < x.extents[Dim::c]; ++c)
      for (std::int64_t i = 0; i < x.plane(); ++i) visit(n, c, i);
}

}  // namespace

Tensor batch_norm(const LayerCall& call, const BatchNorm& op) {
  const Tensor& x = call.input();
  Tensor y(x.extents);
  for (std::int64_t c = 0; c < x.extents[Dim::c]; ++c) {
    const Moments m = moments(x, c, op.epsilon);
    const double scale = call.weights->weight[static_cast<std::size_t>(c)];
    const double shift = call.weights->bias[static_cast<std::size_t>(c)];
    for_each_of_channel(
        x, c, [&](std::int64_t i) { y[i] = scale * (x[i] - m.mean) / m.deviation + shift; });
  }
  return y;
}

// Ioffe and Szegedy 2015, Section 3, with x-hat = (x - mean) / deviation and N elements a channel:
// dx = w / deviation * (dy - sum(dy) / N - x-hat sum(dy x-hat) / N).
Gradients batch_norm_backward(const LayerCall& call, const BatchNorm& op, const Tensor& dy) {
  const Tensor& x = call.input();
  const double count = static_cast<double>(x.extents[Dim::n] * x.plane());
  Tensor dx(x.extents);
  Weights dp;
  for (std::int64_t c = 0; c < x.extents[Dim::c]; ++c) {
    const Moments m = moments(x, c, op.epsilon);
    const auto hat = [&](std::int64_t i) { return (x[i] - m.mean) / m.deviation; };
    double sum = 0, product = 0;
    for_each_of_channel(x, c, [&](std::int64_t i) { sum += dy[i], product += dy[i] * hat(i); });
    const double scale = call.weights->weight[static_cast<std::size_t>(c)] / m.deviation;
    for_each_of_channel(x, c, [&](std::int64_t i) {
      dx[i] = scale * (dy[i] - sum / count - hat(i) * product / count);
    });
    dp.weight.push_back(product);
    dp.bias.push_back(sum);
  }
  return {{dx}, dp};
}

Tensor layer_norm(const LayerCall& call, const LayerNorm& op) {
  const Tensor& x = call.input();
  Tensor y(x.extents);
  for_each_position(x, [&](std::int64_t n, std::int64_t i) {
    const Moments m = moments_at(x, n, i, op.epsilon);
    for (std::int64_t c = 0; c < x.extents[Dim::c]; ++c) {
      const std::int64_t at = x.index(n, c, 0, 0, 0) + i;
      y[at] = (x[at] - m.mean) / m.deviation;
      if (!op.affine) continue;
      y[at] *= call.weights->weight[static_cast<std::size_t>(c)];
      y[at] += call.weights->bias[static_cast<std::size_t>(c)];
    }
  });
  return y;
}

// By the definition, element by element: with g = w dy, y_c depends on x_j by
// dx^_c/dx_j = ([c = j] - 1/C - x^_c x^_j / C) / deviation.
Gradients layer_norm_backward(const LayerCall& call, const LayerNorm& op, const Tensor& dy) {
  const Tensor& x = call.input();
  const std::int64_t channels = x.extents[Dim::c];
  const auto share = 1 / static_cast<double>(channels);
  Tensor dx(x.extents);
  Weights dp;
  if (op.affine) dp = {std::vector<double>(channels), std::vector<double>(channels)};
  for_each_position(x, [&](std::int64_t n, std::int64_t i) {
    const Moments m = moments_at(x, n, i, op.epsilon);
    const auto place = [&](std::int64_t c) { return x.index(n, c, 0, 0, 0) + i; };
    const auto hat = [&](std::int64_t c) { return (x[place(c)] - m.mean) / m.deviation; };
    for (std::int64_t c = 0; c < channels; ++c) {
      const auto at = static_cast<std::size_t>(c);
      const double g = dy[place(c)] * (op.affine ? call.weights->weight[at] : 1);
      for (std::int64_t j = 0; j < channels; ++j) {
        const double same = c == j ? 1 : 0;
        dx[place(j)] += g * (same - share - hat(c) * hat(j) * share) / m.deviation;
      }
      if (!op.affine) continue;
      dp.weight[at] += dy[place(c)] * hat(c);
      dp.bias[at] += dy[place(c)];
    }
  });
  return {{dx}, dp};
}

Tensor local_response_norm(const LayerCall& call, const LocalResponseNorm& op) {
  const Tensor& x = call.input();
  Tensor y(x.extents);
  for_each_place(x, [&](std::int64_t n, std::int64_t c, std::int64_t i) {
    const std::int64_t at = x.index(n, c, 0, 0, 0) + i;
    y[at] = x[at] * std::pow(neighbourhood(x, op, n, c, i), -op.beta);
  });
  return y;
}

// With s_c the neighbourhood of c: dy_c/dx_j = [c = j] s_c^-beta
// - 2 alpha beta / size x_c x_j s_c^(-beta-1) where j is a neighbour of c.
Tensor local_response_norm_backward(const LayerCall& call, const LocalResponseNorm& op,
                                    const Tensor& dy) {
  const Tensor& x = call.input();
  const double factor = 2 * op.alpha * op.beta / static_cast<double>(op.size);
  Tensor dx(x.extents);
  for_each_place(x, [&](std::int64_t n, std::int64_t c, std::int64_t i) {
    const std::int64_t at = x.index(n, c, 0, 0, 0) + i;
    const double s = neighbourhood(x, op, n, c, i);
    dx[at] += dy[at] * std::pow(s, -op.beta);
    for (std::int64_t j = c - (op.size - 1) / 2; j <= c + op.size / 2; ++j) {
      if (j < 0 || j >= x.extents[Dim::c]) continue;
      const std::int64_t near = x.index(n, j, 0, 0, 0) + i;
      dx[near] -= dy[at] * factor * x[at] * x[near] * std::pow(s, -op.beta - 1);
    }
  });
  return dx;
}

Tensor rms_norm(const LayerCall& call, const RmsNorm& op) {
  const Tensor& x = call.input();
  Tensor y(x.extents);
  for_each_place(x, [&](std::int64_t n, std::int64_t c, std::int64_t i) {
    const std::int64_t at = x.index(n, c, 0, 0, 0) + i;
    const Interval channels = together(x, op, c);
    y[at] = call.weights->weight[static_cast<std::size_t>(c - channels.begin)] * x[at] /
            root_mean_square(x, n, channels, i, op.epsilon);
  });
  return y;
}

// By the definition, element by element: with r the root, dx^_c/dx_j = [c = j] / r
// - x_c x_j / (C r^3).
Gradients rms_norm_backward(const LayerCall& call, const RmsNorm& op, const Tensor& dy) {
  const Tensor& x = call.input();
  Tensor dx(x.extents);
  Weights dp{std::vector<double>(call.weights->weight.size()), {}};
  for_each_place(x, [&](std::int64_t n, std::int64_t c, std::int64_t i) {
    const Interval channels = together(x, op, c);
    const auto own = static_cast<std::size_t>(c - channels.begin);
    const double root = root_mean_square(x, n, channels, i, op.epsilon);
    const auto place = [&](std::int64_t j) { return x.index(n, j, 0, 0, 0) + i; };
    const double g = dy[place(c)] * call.weights->weight[own];
    const double cube = static_cast<double>(channels.size()) * root * root * root;
    dx[place(c)] += g / root;
    for (std::int64_t j = channels.begin; j < channels.end; ++j) {
      dx[place(j)] -= g * x[place(c)] * x[place(j)] / cube;
    }
    dp.weight[own] += dy[place(c)] * x[place(c)] / root;
  });
  return {{dx}, dp};
}

Tensor softmax(const Tensor& logits) {
  Tensor y(logits.extents);
  for_each_position(logits, [&](std::int64_t n, std::int64_t i) {
    const Exponentials e = exponentials(logits, n, i);
    for (std::int64_t c = 0; c < logits.extents[Dim::c]; ++c) {
      const std::int64_t at = logits.index(n, c, 0, 0, 0) + i;
      y[at] = std::exp(logits[at] - e.top) / e.sum;
    }
  });
  return y;
}

double cross_entropy(const Tensor& logits, std::span<const std::int64_t> labels) {
  double loss = 0;
  std::size_t next = 0;
  for_each_position(logits, [&](std::int64_t n, std::int64_t i) {
    const Exponentials e = exponentials(logits, n, i);
    loss += std::log(e.sum) + e.top - logits[logits.index(n, labels[next++], 0, 0, 0) + i];
  });
  return loss / static_cast<double>(next);
}

}  // namespace strata::reference
