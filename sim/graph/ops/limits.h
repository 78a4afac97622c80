#pragma once

// The limits keep every later product of extents, bytes and replicas inside an int64.

#include <cstdint>

namespace strata {

inline constexpr std::int64_t kMaxExtent = std::int64_t{1} << 31;
inline constexpr std::int64_t kMaxWindow = std::int64_t{1} << 20;  ///< kernel, stride, padding ...
/// Activations of a whole graph, once more for each layer that reads them, and parameters. As fp32
/// that is a petabyte: 2^50 bytes, which leaves room for 2^12 devices that each send and get all.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;
inline constexpr std::int64_t kMaxMacs = std::int64_t{1} << 62;

/// a * b for a, b >= 0, or -1 if that exceeds `limit` or either is already -1.
constexpr std::int64_t bounded_product(std::int64_t a, std::int64_t b, std::int64_t limit) {
  if (a < 0 || b < 0) return -1;
  if (a != 0 && b > limit / a) return -1;
  return a * b;
}

}  // namespace strata
