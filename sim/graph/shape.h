#pragma once

// Shape inference: what an op makes of its inputs' extents, and which parameters it has. Part of
// GraphBuilder; the limits keep every later product of extents, bytes and replicas inside an
// int64.

#include <cstdint>
#include <span>

#include "sim/geometry/geometry.h"
#include "sim/graph/graph.h"
#include "sim/graph/op.h"

namespace strata {

inline constexpr std::int64_t kMaxExtent = std::int64_t{1} << 31;
inline constexpr std::int64_t kMaxWindow = std::int64_t{1} << 20;  ///< kernel, stride, padding ...
inline constexpr std::size_t kMaxLayers = 100'000;
/// Activations and parameters of a whole graph. As fp32 that is a petabyte: 2^50 bytes, which
/// leaves room for 2^12 replicas.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;
inline constexpr std::int64_t kMaxMacs = std::int64_t{1} << 62;

/// The op with the values that it ignores at their defaults (a slope on a ReLU, padding's count in
/// maximum pooling), so that networks which compute the same compare equal.
Op canonical(Op op);

/// The output's extents. Throws InputError that says what does not fit (not the layer's name).
Extents infer_output(const Op& op, std::span<const Extents> inputs);

/// How many places a window has along an extent: of a convolution, and of a pooling as PyTorch
/// defines ceil_mode, where the last window may hang over the end, but must start inside the input
/// or the padding before it. Throw InputError, which names the dim, where it does not fit.
std::int64_t convolved(const Window& window, std::int64_t extent, Dim dim);
std::int64_t pooled(const Window& window, bool ceil_mode, std::int64_t extent, Dim dim);

/// For inputs that infer_output accepts.
Parameters infer_parameters(const Op& op, std::span<const Extents> inputs);

/// Multiply-accumulates per output element: I/groups x kernel, or the input's features; else 0.
std::int64_t macs_per_output(const Op& op, std::span<const Extents> inputs);

/// a * b for a, b >= 0, or -1 if that exceeds `limit` or either is already -1.
constexpr std::int64_t bounded_product(std::int64_t a, std::int64_t b, std::int64_t limit) {
  if (a < 0 || b < 0) return -1;
  if (a != 0 && b > limit / a) return -1;
  return a * b;
}

}  // namespace strata
