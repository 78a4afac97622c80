#pragma once

// Who waits for whom, indexed from the side of the one that ends: the successors of an activity
// one after another (compressed rows), and for each activity how many it still waits for.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/workload.h"

namespace strata {

class Successors {
 public:
  explicit Successors(const Workload& workload);

  std::span<const std::uint32_t> operator[](std::size_t activity) const {
    return std::span(rows_).subspan(offsets_[activity],
                                    offsets_[activity + 1] - offsets_[activity]);
  }

 private:
  std::vector<std::uint32_t> offsets_, rows_;
};

/// How many dependencies each activity has.
std::vector<std::uint32_t> count_dependencies(const Workload& workload);

}  // namespace strata
