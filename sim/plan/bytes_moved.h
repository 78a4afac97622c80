#pragma once

// Sums of bytes that a step moves, over thousands of devices and rounds. Pure; thread-safe.

#include <cstdint>

#include "sim/base/units.h"

namespace strata {

/// Adds `times` as much. Throws InputError beyond 2^61 bytes, of which several sums fit in 64 bits.
void add_moved(Bytes bytes, std::int64_t times, Bytes& sum);

}  // namespace strata
