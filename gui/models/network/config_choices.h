#pragma once

// Which degrees a layer's dims and its reduction may have, one at a time, and why others may not:
// what a panel offers, and greys out with its reason. Pure functions; thread-safe.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/case/predict.h"

namespace strata::gui {

/// A dim of the output; nothing: the reduction, whose terms are divided (Degrees::r).
using CutAxis = std::optional<Dim>;
inline constexpr std::array<CutAxis, kDims.size() + 1> kCutAxes = {Dim::n, Dim::c, Dim::d,
                                                                   Dim::h, Dim::w, std::nullopt};

std::int32_t degree_along(const Degrees& degrees, CutAxis axis);
/// The others as they are. Sums that are divided anew are scattered along the first dim that has
/// room for it, where one has; a layer without sums stays as it is.
Degrees with_degree(const Layer& layer, Degrees degrees, CutAxis axis, std::int32_t degree);
/// The greatest that the layer itself allows.
std::int64_t most_parts_along(const Layer& layer, CutAxis axis);

/// One degree along one axis, the others of each layer being as they are.
struct DegreeChoice {
  std::int32_t degree = 1;
  std::string reason;  ///< why it may not be; empty where it may

  bool legal() const { return reason.empty(); }
  bool operator==(const DegreeChoice&) const = default;
};

/// The degrees worth offering on so many devices: powers of two or divisors, as a search has them
/// (all instead of divisors where they are few); and those of `now`.
std::vector<std::int32_t> offered_degrees(std::size_t devices, std::span<const Degrees> now);

/// For all of these layers at once: legal is what every one of them may have; of those with sums,
/// where these are divided. `now`: how each of them is cut, in their order.
std::vector<DegreeChoice> degree_choices(const Case& input, std::span<const LayerId> layers,
                                         CutAxis axis, std::span<const Degrees> now);

/// Why these layers may not be cut so; empty where they may.
std::string why_not(const Case& input, std::span<const LayerId> layers, const Degrees& degrees);

}  // namespace strata::gui
