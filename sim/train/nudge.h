#pragma once

// Values a few units in the last place away, up or down by chance: about what another order of
// summation does to them. Pure.

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/graph/ops/phase.h"

namespace strata {

struct Nudge {
  DType type = DType::fp32;  ///< which the values are of, whose last place it is
  std::uint32_t units = 1;
};
/// What is next to zero stays.
void nudge(std::span<float> values, const Nudge& by, std::string_view stream);

}  // namespace strata
