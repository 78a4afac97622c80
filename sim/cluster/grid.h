#pragma once

// Regular machines: hosts of equal devices, a network inside each host and one between them.
// docs/clusters.md draws every topology.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/cluster/builder.h"

namespace strata {

enum class IntraTopology {
  bus,               ///< "switch": a duplex link from each device to the host's switch
  pcie,              ///< the same through the host's PCIe bridge
  all_to_all,        ///< a duplex link between every two devices
  ring,              ///< a duplex link to the next device
  hybrid_cube_mesh,  ///< eight devices as the DGX-1 wires them
};
enum class InterTopology {
  none,
  nic_per_host,    ///< the devices of a host share one duplex link to the core switch
  nic_per_device,  ///< each device has its own
};

/// Nothing for an unknown name; `allowed_*` lists the known ones for messages.
std::optional<IntraTopology> find_intra_topology(std::string_view name);
std::optional<InterTopology> find_inter_topology(std::string_view name);
std::string allowed_intra_topologies();
std::string allowed_inter_topologies();

struct Grid {
  std::int64_t hosts = 1;
  std::int64_t devices_per_host = 1;
  std::string kind;
  bool copy_engine = true;  ///< of every device, as `assembles`
  bool assembles = false;
  std::optional<Bytes> memory = {};  ///< likewise, and `memory_reserve`: as of a Device
  Bytes memory_reserve = {};

  IntraTopology intra = IntraTopology::bus;
  BytesPerSecond intra_bandwidth;  ///< of each link and direction
  Seconds intra_latency;           ///< of a path between two neighbours in a host

  InterTopology inter = InterTopology::none;
  BytesPerSecond inter_bandwidth;  ///< of each link to the core and direction
  Seconds inter_latency;           ///< of a path between devices of two hosts
  /// Of the link between a device and its NIC; nothing means as fast as the NIC. A NIC that hangs
  /// on the host's switch is reached over the device's link to that.
  std::optional<BytesPerSecond> device_bandwidth;
};

/// What can't be built is added to the builder's errors, at its place.
void add_grid(const Grid& grid, ClusterBuilder& builder);

}  // namespace strata
