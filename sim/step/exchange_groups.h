#pragma once

// Which exchanges of boxes a library would do as a collective: those in which every device of a
// group needs of all of the group, and of nobody else: what all have, or of each a part as large.
// Halos, uneven parts and what moves between stages are none. Pure; thread-safe.

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
    /// Of the tensor that all have together, parts padded to the largest; of one that is cut
    /// otherwise, what all read together.
    std::int64_t elements = 0;
    bool cut_otherwise = false;  ///< devices need parts that differ
  };
  std::vector<Group> groups;             ///< none where some of what moves is no group's
  std::map<DeviceId, std::uint32_t> of;  ///< by device, in groups
};

/// The largest group whose tensor may be cut otherwise: pairs are as many as its square.
inline constexpr std::size_t kMostOfAllToAll = 256;

/// Of boxes that are read: an all-gather each, and a reduce-scatter of their gradients; of groups
/// whose tensor is cut otherwise an all-to-all, and one back.
/// `producers`, `consumers`: devices by shard.
ExchangeGroups exchange_groups(const EdgeReads& reads, std::span<const DeviceId> producers,
                               std::span<const DeviceId> consumers);

/// Of the sums of a layer that is cut in r: a reduce-scatter each, and an all-gather of gradients.
ExchangeGroups partial_sum_groups(const Layer& layer, const Config& config);

}  // namespace strata
