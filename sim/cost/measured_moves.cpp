#include "sim/cost/measured_moves.h"

#include <algorithm>
#include <cmath>

namespace strata {

MeasuredMoves::MeasuredMoves(const std::vector<MeasuredMove>& rows) {
  for (const MeasuredMove& row : rows) {
    rows_[static_cast<std::size_t>(row.kind)].push_back(
        {static_cast<double>(row.bytes.value), row.seconds.value, row.relative_spread()});
  }
}

std::optional<Cost> MeasuredMoves::operator()(MoveKind kind, Bytes bytes) const {
  const std::vector<Row>& rows = rows_[static_cast<std::size_t>(kind)];
  if (rows.empty()) return std::nullopt;
  const double asked = static_cast<double>(bytes.value);
  const auto more = std::lower_bound(rows.begin(), rows.end(), asked,
                                     [](const Row& row, double b) { return row.bytes < b; });
  if (more == rows.end()) {
    const Row& largest = rows.back();
    return Cost{
        {largest.seconds * (asked / largest.bytes)}, CostSource::interpolated, largest.spread};
  }
  if (more->bytes == asked) return Cost{{more->seconds}, CostSource::measured, more->spread};
  if (more == rows.begin()) return Cost{{more->seconds}, CostSource::interpolated, more->spread};
  const Row& less = *(more - 1);
  const double at = std::log(asked / less.bytes) / std::log(more->bytes / less.bytes);
  return Cost{{less.seconds * std::pow(more->seconds / less.seconds, at)},
              CostSource::interpolated,
              std::lerp(less.spread, more->spread, at)};
}

}  // namespace strata
