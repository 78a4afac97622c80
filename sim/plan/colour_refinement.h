#pragma once

// Colour refinement over devices (Paige and Tarjan, 1987; McKay and Piperno, 2014): from what each
// device does by itself, with whom it exchanges what, and in which groups it sums, to the coarsest
// colours of which each has as much to do with every other. Pure; thread-safe. Internal to
// sim/plan.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/plan/device_classes.h"
#include "sim/plan/mixed_bits.h"
#include "sim/step/redistribution.h"

namespace strata {

/// Boxes that shards read of others than the one that lies on their device.
struct ReadsOfOthers {
  EdgeReads reads;
  std::span<const DeviceId> producers, consumers;  ///< by shard
};

/// Devices that sum something together.
struct SumGroup {
  std::vector<DeviceId> devices;
  Bits sums = 0;  ///< what, and how
};

/// What a group puts on a link.
struct OwnLoad {
  std::uint32_t domain = 0;  ///< whose link it is
  DeviceId device;           ///< likewise; invalid where the domain's links are not its devices'
  std::size_t group = 0;     ///< among all groups
  Bits load = 0;             ///< on which of their links, and how much of what
};

struct DeviceBehaviour {
  std::vector<Bits> alone;  ///< by device: a sum over what it does by itself
  std::vector<ReadsOfOthers> reads;
  std::vector<SumGroup> groups;
  std::vector<OwnLoad> loads;
};

/// The colours of the devices, numbered. `exchange`: those of one domain may have one, too.
std::vector<std::uint32_t> refined_colours(const DeviceBehaviour& behaviour,
                                           const DomainSymmetry& domains, bool exchange);

/// Whether every group in which a device stands for others has those that stand for its members,
/// and loads their links as it loads those of the members.
bool keeps_groups(const DeviceBehaviour& behaviour, const DeviceClasses& classes);

}  // namespace strata
