#pragma once

// Axes as nodes say them: of a tensor of some rank, from the end where they are negative. Pure;
// thread-safe.

#include <cstdint>
#include <vector>

namespace strata {

/// From 0 on. Throws InputError that says what is allowed.
std::size_t checked_axis(std::int64_t axis, std::size_t rank);

/// The same of several, each at most once; sorted.
std::vector<std::size_t> checked_axes(const std::vector<std::int64_t>& axes, std::size_t rank);

}  // namespace strata
