#include <cstddef>

#include "tests/exec/reference/ops.h"

namespace strata::reference {
namespace {

/// The element that output `o` reads with tap `k`; out of [0, extent) in the padding.
std::int64_t tapped(const Window& window, std::int64_t o, std::int64_t k) {
  return o * window.stride - window.pad_begin + k * window.dilation;
}

/// Calls visit(tap, element) for the taps of output `o` along one dim that are not in the padding.
template <class Visit>
void for_each_tap(const Window& window, std::int64_t o, std::int64_t extent, const Visit& visit) {
  for (std::int64_t k = 0; k < window.kernel; ++k) {
    const std::int64_t at = tapped(window, o, k);
    if (at >= 0 && at < extent) visit(k, at);
  }
}

/// Calls visit(x's index, weight's index) for every product that output (n, o, d, h, w) sums.
template <class Visit>
void for_each_product(const Convolution& op, const Tensor& x, std::int64_t n, std::int64_t o,
                      std::int64_t d, std::int64_t h, std::int64_t w, const Visit& visit) {
  const std::int64_t inputs = x.extents[Dim::c] / op.groups;
  const std::int64_t first = o / (op.out_channels / op.groups) * inputs;
  const Windows& win = op.windows;
  for (std::int64_t i = 0; i < inputs; ++i) {
    for_each_tap(win.d, d, x.extents[Dim::d], [&](std::int64_t kd, std::int64_t at_d) {
      for_each_tap(win.h, h, x.extents[Dim::h], [&](std::int64_t kh, std::int64_t at_h) {
        for_each_tap(win.w, w, x.extents[Dim::w], [&](std::int64_t kw, std::int64_t at_w) {
          const std::int64_t place =
              (((o * inputs + i) * win.d.kernel + kd) * win.h.kernel + kh) * win.w.kernel + kw;
          visit(x.index(n, first + i, at_d, at_h, at_w), static_cast<std::size_t>(place));
        });
      });
    });
  }
}

/// Calls visit(n, c, d, h, w) for every element.
template <class Visit>
void for_each_element(const Extents& e, const Visit& visit) {
  for (std::int64_t n = 0; n < e[Dim::n]; ++n)
    for (std::int64_t c = 0; c < e[Dim::c]; ++c)
      for (std::int64_t d = 0; d < e[Dim::d]; ++d)
        for (std::int64_t h = 0; h < e[Dim::h]; ++h)
          for (std::int64_t w = 0; w < e[Dim::w]; ++w) visit(n, c, d, h, w);
}

}  // namespace

Tensor convolution(const LayerCall& call, const Convolution& op) {
  const Tensor& x = call.input();
  const Weights& p = *call.weights;
  Tensor y(call.layer().output);
  for_each_element(y.extents, [&](auto n, auto o, auto d, auto h, auto w) {
    double sum = op.bias ? p.bias[static_cast<std::size_t>(o)] : 0;
    for_each_product(op, x, n, o, d, h, w,
                     [&](std::int64_t in, std::size_t k) { sum += x[in] * p.weight[k]; });
    y.at(n, o, d, h, w) = sum;
  });
  return y;
}

Gradients convolution_backward(const LayerCall& call, const Convolution& op, const Tensor& dy) {
  const Tensor& x = call.input();
  const Weights& p = *call.weights;
  Weights dp = {std::vector<double>(p.weight.size()), std::vector<double>(p.bias.size())};
  Tensor dx(x.extents);
  for_each_element(dy.extents, [&](auto n, auto o, auto d, auto h, auto w) {
    const double g = dy.at(n, o, d, h, w);
    if (op.bias) dp.bias[static_cast<std::size_t>(o)] += g;
    for_each_product(op, x, n, o, d, h, w, [&](std::int64_t in, std::size_t k) {
      dx[in] += p.weight[k] * g;
      dp.weight[k] += x[in] * g;
    });
  });
  return {{dx}, dp};
}

Tensor fully_connected(const LayerCall& call, const FullyConnected& op) {
  const Tensor& x = call.input();
  const Weights& p = *call.weights;
  const std::int64_t inputs = x.size() / x.extents[Dim::n];
  Tensor y(call.layer().output);
  for (std::int64_t n = 0; n < x.extents[Dim::n]; ++n) {
    for (std::int64_t o = 0; o < op.out_features; ++o) {
      double sum = op.bias ? p.bias[static_cast<std::size_t>(o)] : 0;
      for (std::int64_t i = 0; i < inputs; ++i) {
        sum += p.weight[static_cast<std::size_t>(o * inputs + i)] * x[n * inputs + i];
      }
      y[n * op.out_features + o] = sum;
    }
  }
  return y;
}

Gradients fully_connected_backward(const LayerCall& call, const FullyConnected& op,
                                   const Tensor& dy) {
  const Tensor& x = call.input();
  const Weights& p = *call.weights;
  const std::int64_t inputs = x.size() / x.extents[Dim::n];
  Weights dp = {std::vector<double>(p.weight.size()), std::vector<double>(p.bias.size())};
  Tensor dx(x.extents);
  for (std::int64_t n = 0; n < x.extents[Dim::n]; ++n) {
    for (std::int64_t o = 0; o < op.out_features; ++o) {
      const double g = dy[n * op.out_features + o];
      if (op.bias) dp.bias[static_cast<std::size_t>(o)] += g;
      for (std::int64_t i = 0; i < inputs; ++i) {
        const auto k = static_cast<std::size_t>(o * inputs + i);
        dx[n * inputs + i] += p.weight[k] * g;
        dp.weight[k] += x[n * inputs + i] * g;
      }
    }
  }
  return {{dx}, dp};
}

}  // namespace strata::reference
