#pragma once

// Which exchanges of boxes a library would do as a collective: those in which every device of a
// group needs what all of the group have, and nothing else. Halos, uneven parts and what moves
// between stages are none. Pure; thread-safe.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sim/step/redistribution.h"

namespace strata {

/// Whether boxes that devices exchange move pair by pair or, where a library would, at once.
enum class Exchanges : std::uint8_t { pairwise, collective };

struct ExchangeGroups {
  struct Group {
    std::vector<DeviceId> devices;  ///< sorted
    std::int64_t elements =
        0;  ///< of the tensor that all have together, parts padded to the largest
  };
  std::vector<Group> groups;             ///< none where some of what moves is no group's
  std::map<DeviceId, std::uint32_t> of;  ///< by device, in groups
};

/// Of boxes that are read: an all-gather each, and a reduce-scatter of their gradients.
/// `producers`, `consumers`: devices by shard.
ExchangeGroups exchange_groups(const EdgeReads& reads, std::span<const DeviceId> producers,
                               std::span<const DeviceId> consumers);

/// Of the sums of a layer that is cut in r: a reduce-scatter each, and an all-gather of gradients.
ExchangeGroups partial_sum_groups(const Layer& layer, const Config& config);

}  // namespace strata
