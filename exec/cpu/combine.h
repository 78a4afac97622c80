#pragma once

// The arithmetic of a reduction over replicas: several devices' partial values become one.

#include <cstdint>
#include <span>

#include "sim/graph/ops/facts.h"

namespace strata::cpu {

/// Combines values [begin, end) of all parts, in their order, into `to`, which may be one of them.
/// Pairs are not torn: where `how` is of pairs, begin and end are even. `counts`: of each part, how
/// many elements its moments are of; unused otherwise.
void combine(Combination how, float* to, std::span<const float* const> parts,
             std::span<const std::int64_t> counts, std::int64_t begin, std::int64_t end);

}  // namespace strata::cpu
