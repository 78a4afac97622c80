#pragma once

// Regular machines: domains of equal devices (hosts, or racks whose hosts one NVLink joins), a
// network inside each domain, and one between them, which may be a tree of switches.
// docs/clusters.md draws every topology.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  nic_per_host,    ///< the devices of a domain share one duplex link to their switch
  nic_per_device,  ///< each device has its own
};

/// Nothing for an unknown name; `allowed_*` lists the known ones for messages.
std::optional<IntraTopology> find_intra_topology(std::string_view name);
std::optional<InterTopology> find_inter_topology(std::string_view name);
std::string allowed_intra_topologies();
std::string allowed_inter_topologies();

/// Switches of one level of the network between domains, which join those of the level below, or
/// the domains' cards.
struct SwitchLevel {
  std::string name;        ///< of a switch, with its number: "pod3"
  std::int64_t count = 1;  ///< of domains below a switch, or of the switches of the level below
  /// Of the link from each switch below, and direction. Nothing means what the cards below it have
  /// together, over `oversubscription`. The first level's links are the cards'.
  std::optional<BytesPerSecond> bandwidth = {};
  double oversubscription = 1;
  Seconds latency = {};  ///< of a path up to this level, beyond that of those below
  bool rails = false;  ///< the first level's: a switch for the cards of one number in their domains
};

struct Grid {
  std::int64_t domains = 1;
  std::int64_t devices_per_domain = 1;
  /// Where a domain has several hosts; nothing means that it is one.
  std::optional<std::int64_t> devices_per_host = {};
  std::string domain_name = "host", host_name = "host";
  std::string kind;
  bool copy_engine = true;  ///< of every device, as `assembles`
  bool assembles = false;
  std::optional<Bytes> memory = {};  ///< likewise, and `memory_reserve`: as of a Device
  Bytes memory_reserve = {};

  IntraTopology intra = IntraTopology::bus;
  BytesPerSecond intra_bandwidth;  ///< of each link and direction
  Seconds intra_latency;           ///< of a path between two neighbours in a domain

  InterTopology inter = InterTopology::none;
  BytesPerSecond inter_bandwidth;  ///< of each card's link and direction
  Seconds inter_latency;           ///< of a path between devices of two domains, below one switch
  /// Of the link between a device and its NIC; nothing means as fast as the NIC. A NIC that hangs
  /// on the domain's switch is reached over the device's link to that.
  std::optional<BytesPerSecond> device_bandwidth;
  /// From the domains upwards; the last is one switch. None means one switch, "core".
  std::vector<SwitchLevel> switches = {};
};

/// What can't be built is added to the builder's errors, at its place.
void add_grid(const Grid& grid, ClusterBuilder& builder);

}  // namespace strata
