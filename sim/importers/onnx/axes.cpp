#include "sim/importers/onnx/axes.h"

#include <set>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/tensor_values.h"

namespace strata {

std::size_t checked_axis(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count)
    throw InputError(fmt::format("its axis is {}; allowed: {} to {}", axis, -count, count - 1));
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

std::vector<std::size_t> checked_axes(const std::vector<std::int64_t>& axes, std::size_t rank) {
  std::set<std::size_t> sorted;
  for (const std::int64_t axis : axes) sorted.insert(checked_axis(axis, rank));
  if (sorted.size() == axes.size()) return {sorted.begin(), sorted.end()};
  throw InputError(fmt::format("its axes are {}; allowed: each at most once", print_dims(axes)));
}

}  // namespace strata
