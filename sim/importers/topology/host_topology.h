#pragma once

// The topology of one host of an imported cluster: its devices, switches and links, without the
// host's name, and its ports to a network. Values; thread-safe.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/builder.h"
#include "sim/cluster/cluster.h"
#include "sim/importers/topology/machine.h"

namespace strata {

/// A network card: what is sent leaves the host from the switch `from`.
struct NetworkPort {
  std::string from;
  BytesPerSecond bandwidth;
  Seconds latency;  ///< of each of its two links, out and in
};

struct HostTopology {
  std::vector<Device> devices;
  std::vector<std::string> switches;
  std::vector<LinkSpec> links;  ///< named
  std::vector<NetworkPort> ports;
  Cluster alone;  ///< the same without its ports: its routes are those that must hold in a network
};

/// GPUs reach each other over the NVLinks between them, else by their NVSwitches, else by the PCI
/// bridge or the processor that both hang on, else from processor to processor; never through a
/// third GPU. A GPU's nearest card is the one with the fewest PCI links between; where several hang
/// on one bridge, the GPUs there take them in turn. Throws InputError: FILE: ...
HostTopology topology_of(const Machine& machine, const std::string& file);

/// Most devices of one host.
inline constexpr std::size_t kHostDeviceLimit = 256;

/// Names the links and fills in `alone`. Throws InputError "FILE: ...".
void complete(HostTopology& topology, const std::string& file);

/// A card that all devices of a completed host share, each by a way of its own.
void add_card(BytesPerSecond bandwidth, const std::optional<Seconds>& latency,
              HostTopology& topology);

/// One host as a cluster file describes it. Links to a switch called `network` are its ports; where
/// there is none, all its devices share a card of this bandwidth.
HostTopology topology_of(const Cluster& node, const std::optional<BytesPerSecond>& bandwidth,
                         const std::optional<Seconds>& latency);

/// The switch that the network cards of one host's cluster lead to.
inline constexpr std::string_view kNetwork = "network";

}  // namespace strata
