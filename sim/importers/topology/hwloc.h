#pragma once

// The topology of a machine as hwloc writes it (`lstopo --of xml`), versions 1 and 2: packages,
// cores, PCI bridges with the speed of their links, GPUs, network cards, and the bandwidths of
// NVLinks where hwloc was built with NVML. A machine without a GPU has its cores as devices, linked
// as those of cpu:N. Pure; thread-safe.

#include "sim/importers/topology/machine.h"
#include "sim/importers/topology/xml.h"

namespace strata {

/// `root` is the element <topology>. Throws InputError "FILE:LINE: ...".
Machine read_hwloc(const XmlElement& root, const MachineOptions& options);

}  // namespace strata
