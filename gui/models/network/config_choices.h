#pragma once

// Which degrees a layer's dims may have, one at a time, and why others may not: what a panel
// offers, and greys out with its reason. Pure functions; thread-safe.

#include <span>
#include <string>
#include <vector>

#include "sim/study/case/predict.h"

namespace strata::gui {

/// One degree of one dim, the other dims of each layer being as they are.
struct DegreeChoice {
  std::int32_t degree = 1;
  std::string reason;  ///< why it may not be; empty where it may

  bool legal() const { return reason.empty(); }
  bool operator==(const DegreeChoice&) const = default;
};

/// The degrees worth offering on so many devices: powers of two or divisors, as a search has them
/// (all instead of divisors where they are few); and those of `now`.
std::vector<std::int32_t> offered_degrees(std::size_t devices, std::span<const Degrees> now);

/// For all of these layers at once: legal is what every one of them may have. `now`: how each of
/// them is cut, in their order.
std::vector<DegreeChoice> degree_choices(const Case& input, std::span<const LayerId> layers,
                                         Dim dim, std::span<const Degrees> now);

/// Why these layers may not be cut so; empty where they may.
std::string why_not(const Case& input, std::span<const LayerId> layers, const Degrees& degrees);

}  // namespace strata::gui
