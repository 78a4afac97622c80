#pragma once

// Whether a predicted step can be: not shorter than its arithmetic takes at the devices' peak, and
// no better than what anybody has published for such devices (profiles, [published_mfu]). Pure;
// thread-safe.

#include <optional>
#include <string>

#include "sim/case/flops.h"

namespace strata {

struct Plausibility {
  bool plausible = true;
  /// Why not; or why a utilisation above 1 is no mistake. "MFU 77 % is above any published figure
  /// for a100 in bf16 (64 %)". Empty where there is nothing to say.
  std::string reason;

  bool operator==(const Plausibility&) const = default;
};

/// Of a step that takes `step`. Where a what-if makes layers faster than the profile's, the peak is
/// no bound, and published figures are. Devices of several kinds are judged by what all could do at
/// the highest figure of each, if each kind has one.
Plausibility plausibility(const Case& input, const FlopsUtilisation& used, Seconds step);
/// Nothing where the utilisation is not known (flops.h).
std::optional<Plausibility> plausibility(const Case& input, const Strategy& strategy, Seconds step);

}  // namespace strata
