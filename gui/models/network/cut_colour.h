#pragma once

// What a cut is coloured by: the cut and nothing else, so that it looks the same in every network,
// whatever is shown beside it and whenever the program starts. Cuts along the same dims are shades
// of one colour. Pure.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "sim/strategy/strategy.h"

namespace strata::gui {

struct CutColour {
  static constexpr std::size_t kFamilies = 10, kShades = 5;

  std::size_t family = 0;  ///< by the dims that are cut; depth, height and width are as one
  std::size_t shade = 0;   ///< by their degrees, and by where the shards sit; see shade_colour()

  bool operator==(const CutColour&) const = default;
};

inline CutColour colour_of(const Config& cut) {
  const auto doublings = [](std::int32_t degree) {
    return static_cast<std::size_t>(std::lround(std::log2(degree)));
  };
  const Degrees& by = cut.degrees;
  const bool space = by[Dim::d] * by[Dim::h] * by[Dim::w] > 1;
  const std::size_t dims = (by[Dim::n] > 1 ? 1u : 0u) + (by[Dim::c] > 1 ? 2u : 0u) +
                           (by.r > 1 ? 4u : 0u) + (space ? 8u : 0u);
  // None, samples, channels, the reduction and space alone have their own, and so have most pairs.
  constexpr std::array<std::size_t, 16> kFamily = {9, 0, 1, 5, 3, 8, 7, 6, 2, 4, 7, 6, 3, 8, 7, 6};
  const std::size_t placed = cut.devices.empty() ? 0 : cut.devices.front()();
  const std::size_t shade = doublings(by[Dim::n]) + 2 * doublings(by[Dim::c]) +
                            2 * doublings(by.r) + 3 * doublings(by[Dim::d]) +
                            doublings(by[Dim::h]) + 2 * doublings(by[Dim::w]) +
                            static_cast<std::size_t>(by.scatter) + placed;
  return {kFamily[dims], shade % CutColour::kShades};
}

}  // namespace strata::gui
