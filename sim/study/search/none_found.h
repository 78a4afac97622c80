#pragma once

// Why a search under a memory limit found no strategy, in words. Pure.

#include <string>
#include <string_view>

#include "sim/study/search/solve.h"

namespace strata {

/// "lenet5 on p100-1x2: no strategy within `memory_limit` 1024 (1.02 kB), proved: each needs at
/// least 1.29 MB a device", or what the smallest of those tried needs.
std::string none_found(const Case& input, const Solved& solved, Bytes bytes);

}  // namespace strata
