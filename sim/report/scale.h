#pragma once

// Where values stand on a side of a chart, and which values its ticks have: 1, 2 or 5 times a power
// of ten; on a logarithmic side the powers of ten themselves where there are enough of them. Pure;
// thread-safe.

#include <span>
#include <vector>

namespace strata {

struct Range {
  double low = 0, high = 1;
  bool operator==(const Range&) const = default;
};

/// Finite, not so large that sums of it would not be, and positive on a logarithmic side.
bool drawable(double value, bool logarithmic);

/// Of drawable values; [0, 1] or [1, 10] of none.
Range range_of(std::span<const double> values, bool logarithmic);
/// Down (or up) to 0.
Range with_zero(Range range);
/// The range, or one around it that is wide enough to have ticks.
Range widened(Range range, bool logarithmic);
/// Out to the next ticks, so that both ends have one.
Range rounded_out(Range range, bool logarithmic);

/// Ascending, all in the range; of a widened one.
std::vector<double> ticks(Range range, bool logarithmic);
/// All of these values, ascending, where they are few powers of two (numbers of devices, batches):
/// ticks that say more than decades. Else empty.
std::vector<double> powers_of_two(std::span<const double> values);

/// A side of a chart from `from` to `to`, along which values, or their logarithms, lie evenly.
struct Scale {
  Range range;
  bool logarithmic = false;
  double from = 0, to = 1;

  double at(double value) const;
};

}  // namespace strata
