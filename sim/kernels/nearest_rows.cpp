#include "sim/kernels/nearest_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace strata {
namespace {

constexpr std::size_t kLeaf = 8;

double squared_distance(const Coordinates& a, const Coordinates& b) {
  double sum = 0;
  for (std::size_t i = 0; i < kCoordinates; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

// Replaces the farthest; a heap with the farthest in front.
void add(NearestRows::Found& found, NearestRows::Near near) {
  const auto nearer = [](const NearestRows::Near& a, const NearestRows::Near& b) {
    return a.squared_distance < b.squared_distance;
  };
  const auto begin = found.rows.begin();
  if (found.count == NearestRows::kMost) {
    if (near.squared_distance >= found.rows[0].squared_distance) return;
    std::pop_heap(begin, found.rows.end(), nearer);
    --found.count;
  }
  found.rows[found.count++] = near;
  std::push_heap(begin, begin + static_cast<std::ptrdiff_t>(found.count), nearer);
}

}  // namespace

NearestRows::NearestRows(std::vector<Coordinates> points)
    : points_(std::move(points)), order_(points_.size()) {
  std::iota(order_.begin(), order_.end(), 0U);
  build(0, order_.size(), 0);
}

void NearestRows::build(std::size_t begin, std::size_t end, std::size_t node) {
  if (end - begin <= kLeaf) return;
  std::size_t widest = 0;
  double width = -1;
  for (std::size_t axis = 0; axis < kCoordinates; ++axis) {
    double least = points_[order_[begin]][axis], most = least;
    for (std::size_t i = begin; i < end; ++i) {
      least = std::min(least, points_[order_[i]][axis]);
      most = std::max(most, points_[order_[i]][axis]);
    }
    if (most - least > width) width = most - least, widest = axis;
  }
  const std::size_t middle = begin + (end - begin) / 2;
  const auto at = [&](std::size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
  std::nth_element(at(begin), at(middle), at(end), [&](std::uint32_t a, std::uint32_t b) {
    const double left = points_[a][widest], right = points_[b][widest];
    return left != right ? left < right : a < b;
  });
  if (node >= axes_.size()) axes_.resize(node + 1), splits_.resize(node + 1);
  axes_[node] = static_cast<std::uint8_t>(widest);
  splits_[node] = points_[order_[middle]][widest];
  build(begin, middle, 2 * node + 1);
  build(middle, end, 2 * node + 2);
}

NearestRows::Found NearestRows::operator()(const Coordinates& at) const {
  Found found;
  visit(0, 0, order_.size(), at, found);
  return found;
}

void NearestRows::visit(std::size_t node, std::size_t begin, std::size_t end, const Coordinates& at,
                        Found& found) const {
  if (end - begin <= kLeaf) {
    for (std::size_t i = begin; i < end; ++i) {
      add(found, {order_[i], squared_distance(points_[order_[i]], at)});
    }
    return;
  }
  const std::size_t middle = begin + (end - begin) / 2;
  const double beyond = at[axes_[node]] - splits_[node];
  const auto left = [&] { visit(2 * node + 1, begin, middle, at, found); };
  const auto right = [&] { visit(2 * node + 2, middle, end, at, found); };
  const auto reaches = [&] {
    return found.count < kMost || beyond * beyond < found.rows[0].squared_distance;
  };
  if (beyond < 0) {
    left();
    if (reaches()) right();
  } else {
    right();
    if (reaches()) left();
  }
}

}  // namespace strata
