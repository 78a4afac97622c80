#pragma once

// Ranges: { from = 0.1, to = 0.5, step = 0.1 }, by `step`, by `count` (linear, both ends) or by
// `factor` (geometric); with `unit` or `suffix` behind each number, or each put into a `form`. They
// are reckoned in decimals, so that neither the digits nor the last value are lost to rounding:
// what comes within a billionth of a step of `to` is `to`. Pure; thread-safe.

#include <cstddef>
#include <string>
#include <vector>

#include "sim/text/value.h"

namespace strata {

struct RangeValues {
  std::vector<std::string> texts;
  bool plain = true;  ///< numbers alone, with no unit, suffix or form
};

/// Throws InputError "FILE:LINE: ..." for a range that is none, is endless or has more than `most`
/// values.
RangeValues read_range(Table table, std::size_t most);

}  // namespace strata
