// PyTorch's pooling: a window of an average that counts its padding is clipped to the padded
// extent, so what hangs over the end by ceil_mode counts for nothing.

#include <algorithm>
#include <functional>
#include <limits>

#include "tests/exec/reference/ops.h"

namespace strata::reference {
namespace {

/// One dim of one output's window.
struct Reach {
  std::vector<std::int64_t> elements;  ///< of the input, ascending
  std::int64_t divisor = 0;            ///< how many count in an average
};

/// The window of one output.
struct Cell {
  std::vector<std::int64_t> elements;  ///< indices of x, row-major
  double divisor = 0;
};

using ReachOf = std::function<Reach(Dim, std::int64_t output)>;

Reach reach(const Window& window, bool count_padding, std::int64_t extent, std::int64_t o) {
  const std::int64_t begin = o * window.stride - window.pad_begin;
  Reach result;
  for (std::int64_t k = 0; k < window.kernel; ++k) {
    const std::int64_t at = begin + k * window.dilation;
    if (at >= 0 && at < extent) result.elements.push_back(at);
    const bool inside = count_padding ? at < extent + window.pad_end : at >= 0 && at < extent;
    if (inside) ++result.divisor;
  }
  return result;
}

/// Cell i of O covers [floor(i S / O), ceil((i+1) S / O)).
Reach adaptive_reach(std::int64_t extent, std::int64_t outputs, std::int64_t o) {
  Reach result;
  const std::int64_t end = ((o + 1) * extent + outputs - 1) / outputs;
  for (std::int64_t at = o * extent / outputs; at < end; ++at) result.elements.push_back(at);
  result.divisor = static_cast<std::int64_t>(result.elements.size());
  return result;
}

Cell cell(const Tensor& x, std::int64_t n, std::int64_t c, const Reach& d, const Reach& h,
          const Reach& w) {
  Cell result;
  result.divisor = static_cast<double>(d.divisor * h.divisor * w.divisor);
  for (std::int64_t i : d.elements)
    for (std::int64_t j : h.elements)
      for (std::int64_t k : w.elements) result.elements.push_back(x.index(n, c, i, j, k));
  return result;
}

/// Calls visit(y's index, its cell) for every output.
template <class Visit>
void for_each_cell(const Tensor& x, const Tensor& y, const ReachOf& of, const Visit& visit) {
  const Extents& e = y.extents;
  for (std::int64_t d = 0; d < e[Dim::d]; ++d)
    for (std::int64_t h = 0; h < e[Dim::h]; ++h)
      for (std::int64_t w = 0; w < e[Dim::w]; ++w) {
        const Reach along_d = of(Dim::d, d), along_h = of(Dim::h, h), along_w = of(Dim::w, w);
        for (std::int64_t n = 0; n < e[Dim::n]; ++n)
          for (std::int64_t c = 0; c < e[Dim::c]; ++c)
            visit(y.index(n, c, d, h, w), cell(x, n, c, along_d, along_h, along_w));
      }
}

/// The first of the largest; `elements` has one. (A dilated window may lie over padding alone, in
/// PyTorch, too: its maximum is -infinity, and no gradient flows.)
std::int64_t largest(const Tensor& x, const std::vector<std::int64_t>& elements) {
  return *std::max_element(elements.begin(), elements.end(),
                           [&](std::int64_t a, std::int64_t b) { return x[a] < x[b]; });
}

Tensor pool(const LayerCall& call, PoolMode mode, const ReachOf& of) {
  const Tensor& x = call.input();
  Tensor y(call.layer().output);
  for_each_cell(x, y, of, [&](std::int64_t out, const Cell& cell) {
    if (mode == PoolMode::max) {
      y[out] = cell.elements.empty() ? -std::numeric_limits<double>::infinity()
                                     : x[largest(x, cell.elements)];
    } else {
      for (std::int64_t in : cell.elements) y[out] += x[in] / cell.divisor;
    }
  });
  return y;
}

Tensor pool_backward(const LayerCall& call, PoolMode mode, const ReachOf& of, const Tensor& dy) {
  const Tensor& x = call.input();
  Tensor dx(x.extents);
  for_each_cell(x, dy, of, [&](std::int64_t out, const Cell& cell) {
    if (mode == PoolMode::average) {
      for (std::int64_t in : cell.elements) dx[in] += dy[out] / cell.divisor;
    } else if (!cell.elements.empty()) {
      dx[largest(x, cell.elements)] += dy[out];
    }
  });
  return dx;
}

ReachOf reaches(const LayerCall& call, const Pooling& op) {
  return [&](Dim dim, std::int64_t o) {
    return reach(op.windows[dim], op.count_include_pad, call.input().extents[dim], o);
  };
}

ReachOf adaptive_reaches(const LayerCall& call) {
  return [&](Dim dim, std::int64_t o) {
    return adaptive_reach(call.input().extents[dim], call.layer().output[dim], o);
  };
}

}  // namespace

Tensor pooling(const LayerCall& call, const Pooling& op) {
  return pool(call, op.mode, reaches(call, op));
}

Tensor pooling_backward(const LayerCall& call, const Pooling& op, const Tensor& dy) {
  return pool_backward(call, op.mode, reaches(call, op), dy);
}

Tensor adaptive_pooling(const LayerCall& call, const AdaptivePooling& op) {
  return pool(call, op.mode, adaptive_reaches(call));
}

Tensor adaptive_pooling_backward(const LayerCall& call, const AdaptivePooling& op,
                                 const Tensor& dy) {
  return pool_backward(call, op.mode, adaptive_reaches(call), dy);
}

}  // namespace strata::reference
