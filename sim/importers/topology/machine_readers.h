#pragma once

// Readers of what tools say of one machine: NCCL's dump (NCCL_TOPO_DUMP_FILE=topo.xml) and hwloc's
// XML, versions 1 and 2 (`lstopo --of xml`). Pure; thread-safe.

#include "sim/importers/topology/machine.h"
#include "sim/importers/topology/xml.h"

namespace strata {

/// Processors, PCI bridges, GPUs with their NVLinks, network cards with their speeds. `root` is the
/// element <system>. Throws InputError "FILE:LINE: ...".
Machine read_nccl(const XmlElement& root, const MachineOptions& options);

/// Packages, cores, PCI bridges with the speed of their links, GPUs, network cards, and the
/// bandwidths of NVLinks where hwloc was built with NVML. A machine without a GPU has its cores as
/// devices, linked as those of cpu:N. `root` is the element <topology>. Throws InputError
/// "FILE:LINE: ...".
Machine read_hwloc(const XmlElement& root, const MachineOptions& options);

}  // namespace strata
