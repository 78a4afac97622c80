#pragma once

// What the pages of the ops say of values that do not fit. All throw InputError, without the
// layer's name, which the builder of the graph adds. Thread-safe.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/geometry/geometry.h"
#include "sim/graph/ops/limits.h"

namespace strata {

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  throw InputError(fmt::format(text, std::forward<Args>(args)...));
}

/// "sample", "channel", "depth", "height", "width".
std::string_view word(Dim dim);
/// One sample's extents for a message: "64 x 1 x 55 x 55", over c, d, h, w.
std::string show(const Extents& extents);

void check_range(std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high);
void check_finite(std::string_view what, double value);
/// Of windows: 1 to 3.
void check_rank(int rank);
/// The extents of the only input of an op that takes one.
const Extents& only(std::span<const Extents> inputs);

}  // namespace strata
