#pragma once

// Lists of boxes that are kept once, however often they are asked for: layers that are alike have
// the same ones, and so has every round. Internal to sim/plan.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/geometry/geometry.h"

namespace strata {

class KnownBoxes {
 public:
  /// Where the list begins in `boxes`, to whose end it is added if it is not yet known; 0 for an
  /// empty one. `boxes` must be the same in all calls, and change only here. `list` may not be a
  /// part of it.
  std::uint32_t find_or_add(std::span<const Box> list, std::vector<Box>& boxes);

 private:
  struct Known {
    std::uint32_t first = 0, count = 0;  // count 0: the slot is free
    std::uint64_t hash = 0;
  };
  std::size_t slot_of(std::span<const Box> list, std::uint64_t hash,
                      std::span<const Box> boxes) const;
  void grow();

  std::vector<Known> slots_ = std::vector<Known>(64);  // open addressing, at most half full
  std::size_t size_ = 0;
};

}  // namespace strata
