#pragma once

// Hosts and the network between them, joined to one cluster. Pure; thread-safe.

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/importers/topology/host_topology.h"

namespace strata {

struct Place {
  std::string host;          ///< its name; its devices are called "HOST/gpu0"
  std::size_t topology = 0;  ///< which of the fabric's
  std::string leaf;          ///< the switch that its ports lead to
};

struct Fabric {
  std::vector<HostTopology> topologies;
  std::vector<Place> places;
  std::vector<std::string> switches;
  std::vector<LinkSpec> links;  ///< between switches
};

/// Routes between devices of one host are those that it has alone: where the network would offer a
/// shorter one, a [[route]] says so. A host that is alone keeps its names. Throws InputError.
Cluster join_hosts(const std::string& name, const Fabric& fabric);

}  // namespace strata
