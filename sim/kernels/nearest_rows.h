#pragma once

// The nearest of many points, by a k-d tree: built once, then asked from any thread. Distances are
// Euclidean; of equally near points, any may be left out, always the same ones.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/kernels/kernel_model.h"

namespace strata {

class NearestRows {
 public:
  static constexpr std::size_t kMost = 12;

  struct Near {
    std::uint32_t row = 0;
    double squared_distance = 0;
  };
  /// `count` of them, in no order.
  struct Found {
    std::array<Near, kMost> rows;
    std::size_t count = 0;
  };

  NearestRows() = default;
  explicit NearestRows(std::vector<Coordinates> points);

  /// The kMost nearest, or all where there are fewer.
  Found operator()(const Coordinates& at) const;
  const Coordinates& point(std::uint32_t row) const { return points_[row]; }

 private:
  void build(std::size_t begin, std::size_t end, std::size_t node);
  void visit(std::size_t node, std::size_t begin, std::size_t end, const Coordinates& at,
             Found& found) const;

  std::vector<Coordinates> points_;
  std::vector<std::uint32_t> order_;  // of the points, by leaf
  std::vector<std::uint8_t> axes_;    // of the inner nodes: children of i are 2i + 1 and 2i + 2
  std::vector<double> splits_;
};

}  // namespace strata
