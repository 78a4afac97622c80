#pragma once

// A tensor of doubles in plain row-major order over n, c, d, h, w.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/geometry/geometry.h"

namespace strata::reference {

struct Tensor {
  Extents extents;
  std::vector<double> values;

  Tensor() = default;
  /// Zeros.
  explicit Tensor(const Extents& e) : extents(e), values(static_cast<std::size_t>(volume(e))) {}

  std::int64_t size() const { return static_cast<std::int64_t>(values.size()); }
  double& operator[](std::int64_t i) { return values[static_cast<std::size_t>(i)]; }
  double operator[](std::int64_t i) const { return values[static_cast<std::size_t>(i)]; }

  std::int64_t index(std::int64_t n, std::int64_t c, std::int64_t d, std::int64_t h,
                     std::int64_t w) const {
    const Extents& e = extents;
    return (((n * e[Dim::c] + c) * e[Dim::d] + d) * e[Dim::h] + h) * e[Dim::w] + w;
  }
  double& at(std::int64_t n, std::int64_t c, std::int64_t d, std::int64_t h, std::int64_t w) {
    return (*this)[index(n, c, d, h, w)];
  }
  double at(std::int64_t n, std::int64_t c, std::int64_t d, std::int64_t h, std::int64_t w) const {
    return (*this)[index(n, c, d, h, w)];
  }

  /// d h w: the elements of one channel of one sample.
  std::int64_t plane() const { return extents[Dim::d] * extents[Dim::h] * extents[Dim::w]; }

  bool operator==(const Tensor&) const = default;
};

}  // namespace strata::reference
