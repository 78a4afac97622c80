#pragma once

// When a shard can work on another buffer as it lies, and when it must gather first. Lowering plans
// the buffers and the moves by it. Pure functions; thread-safe.

#include "sim/geometry/geometry.h"
#include "sim/graph/ops/access.h"

namespace strata {

/// Whether a shard that needs the box `need` of its producer's output, which lies within the
/// owner's shard `owned`, and nothing else, may read that shard in its place: it is all of it, or
/// all but the last rows, which no window meets because a stride skips them.
bool reads_as_it_lies(const AccessMap& access, const Box& need, const Box& owned);

}  // namespace strata
