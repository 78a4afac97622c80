#include "sim/graph/ops/checks.h"

#include <array>
#include <cmath>

namespace strata {

std::string_view word(Dim dim) {
  constexpr PerDim<std::string_view> kWords = {{"sample", "channel", "depth", "height", "width"}};
  return kWords[dim];
}

std::string show(const Extents& e) {
  return fmt::format("{} x {} x {} x {}", e[Dim::c], e[Dim::d], e[Dim::h], e[Dim::w]);
}

void check_range(std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high) fail("{} {} is not in {} ... {}", what, value, low, high);
}

void check_finite(std::string_view what, double value) {
  if (!std::isfinite(value)) fail("{} {} is not a finite number", what, value);
}

void check_rank(int rank) {
  check_range("rank", rank, 1, 3);
}

const Extents& only(std::span<const Extents> inputs) {
  if (inputs.size() != 1) fail("takes one input, not {}", inputs.size());
  return inputs[0];
}

}  // namespace strata
