#include "sim/kernels/kernel_lookup.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/kernels/kernel_model.h"

namespace strata {
namespace {

constexpr double kNearest = 1e-3;  // a distance below which rows count alike
constexpr double kRidge = 0.05;    // how far a plane's slopes are held back, of the spread of rows

std::vector<Coordinates> points_of(const KernelTable& table) {
  std::vector<Coordinates> points;
  points.reserve(table.rows.size());
  for (const KernelRow& row : table.rows) points.push_back(coordinates(table.kernel, row.shape));
  return points;
}

// A symmetric matrix and a right side, by Cholesky's method; the matrix is positive definite.
using Square = std::array<std::array<double, kCoordinates>, kCoordinates>;
Coordinates solve(Square a, Coordinates b, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(sum) : sum / a[j][j];
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = size; i-- > 0;) {
    for (std::size_t k = i + 1; k < size; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

// A plane through weighted points, its value at the origin. Slopes are held back: where all points
// lie on a line, the others are zero.
class Plane {
 public:
  explicit Plane(std::size_t size) : size_(size) {}
  void add(const Coordinates& from_origin, double value, double weight, double squared_distance) {
    weights_ += weight, values_ += weight * value, spread_ += weight * squared_distance;
    for (std::size_t i = 0; i < size_; ++i) {
      first_[i] += weight * from_origin[i];
      mixed_[i] += weight * from_origin[i] * value;
      for (std::size_t j = 0; j <= i; ++j) {
        second_[i][j] += weight * from_origin[i] * from_origin[j];
      }
    }
  }
  double at_origin() const {
    const double mean = values_ / weights_, spread = spread_ / weights_;
    if (!(spread > 0)) return mean;
    Coordinates middle{}, right{};
    Square matrix{};
    for (std::size_t i = 0; i < size_; ++i) {
      middle[i] = first_[i] / weights_;
      right[i] = mixed_[i] / weights_ - middle[i] * mean;
      for (std::size_t j = 0; j <= i; ++j) {
        matrix[i][j] = second_[i][j] / weights_ - middle[i] * middle[j];
      }
      matrix[i][i] += kRidge * spread;
    }
    const Coordinates slopes = solve(matrix, right, size_);
    double value = mean;
    for (std::size_t i = 0; i < size_; ++i) value -= slopes[i] * middle[i];
    return value;
  }

 private:
  std::size_t size_;
  double weights_ = 0, values_ = 0, spread_ = 0;
  Coordinates first_{}, mixed_{};
  Square second_{};
};

}  // namespace

KernelLookup::KernelLookup(const KernelTable& table) : table_(table), near_(points_of(table)) {
  ratios_.reserve(table.rows.size());
  for (const KernelRow& row : table.rows) {
    const Seconds model = modelled(table.kernel, table.dtype, table.parameters, row.shape);
    ratios_.push_back(std::log(row.seconds() / model));
  }
}

std::optional<KernelLookup::Time> KernelLookup::operator()(const KernelShape& shape) const {
  const auto row = std::lower_bound(
      table_.rows.begin(), table_.rows.end(), shape,
      [](const KernelRow& candidate, const KernelShape& s) { return candidate.shape < s; });
  if (row != table_.rows.end() && row->shape == shape) return Time{row->seconds(), true};
  const auto seconds = between(shape);
  if (!seconds) return std::nullopt;
  return Time{*seconds, false};
}

std::optional<Seconds> KernelLookup::between(const KernelShape& shape) const {
  const Coordinates at = coordinates(table_.kernel, shape);
  const NearestRows::Found found = near_(at);
  const std::size_t used = used_coordinates(table_.kernel);
  Plane plane(used);
  double nearest = kReach * kReach * 2;
  double least = 0, most = 0;
  bool any = false;
  for (std::size_t i = 0; i < found.count; ++i) {
    const auto [row, squared] = found.rows[i];
    if (table_.rows[row].shape == shape) continue;
    nearest = std::min(nearest, squared);
    Coordinates from{};
    for (std::size_t axis = 0; axis < used; ++axis) {
      from[axis] = near_.point(row)[axis] - at[axis];
    }
    const double distance = std::sqrt(squared) + kNearest;
    plane.add(from, ratios_[row], 1 / (distance * distance), squared);
    least = any ? std::min(least, ratios_[row]) : ratios_[row];
    most = any ? std::max(most, ratios_[row]) : ratios_[row];
    any = true;
  }
  if (!any || nearest > kReach * kReach) return std::nullopt;
  // Beyond the rows' own ratios a plane only guesses.
  const double ratio = std::clamp(plane.at_origin(), least, most);
  return modelled(table_.kernel, table_.dtype, table_.parameters, shape) * std::exp(ratio);
}

}  // namespace strata
