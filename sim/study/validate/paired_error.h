#pragma once

// How far predictions are from measurements that were taken beside them. Each step meets the
// prediction that the sweeps right before and after it give, so that a machine's slow minutes are
// in both and cancel; what does not cancel makes the interval wide, not the error large. Values and
// pure functions; thread-safe.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/base/units.h"

namespace strata {

/// A step as it was predicted from what was measured beside it, and as it was.
struct StepPair {
  Seconds predicted, measured;
  double relative_error() const { return (predicted - measured) / measured; }
};

struct PairedError {
  double median = 0;  ///< (predicted - measured) / measured, of the middle pair
  /// Two of the pairs' errors, with the true median between them whatever the distribution, as long
  /// as pairs are independent.
  double low = 0, high = 0;
  double confidence = 0;  ///< that it is; at least 0.95 from six pairs on
  std::size_t pairs = 0;

  double half_width() const { return (high - low) / 2; }
  /// Whether the interval has the confidence that is asked for.
  bool is_known() const;
};

/// Of two pairs in the middle, the geometric mean of predicted / measured. Precondition: a pair.
PairedError paired_error(std::span<const StepPair> pairs);

/// What can be said of a prediction, where errors up to a limit are allowed.
enum class Judgement : std::uint8_t { holds, off, too_noisy, too_few };
std::string_view name(Judgement judgement);

/// An interval wholly within the limit, or wholly beyond it, says all. Else an error that is known
/// to five per cent either way is taken for what it is, and of all others nothing is said.
Judgement judge(const PairedError& error, double limit);
inline bool is_judged(Judgement verdict) {
  return verdict == Judgement::holds || verdict == Judgement::off;
}

/// About how many pairs it takes to know the error to five per cent, by the width so far.
std::size_t pairs_to_judge(const PairedError& error);

}  // namespace strata
