#pragma once

// The topology of a machine as NCCL dumps it (NCCL_TOPO_DUMP_FILE=topo.xml): processors, PCI
// bridges, GPUs with their NVLinks, network cards with their speeds. Pure; thread-safe.

#include "sim/importers/topology/machine.h"
#include "sim/importers/topology/xml.h"

namespace strata {

/// `root` is the element <system>. Throws InputError "FILE:LINE: ...".
Machine read_nccl(const XmlElement& root, const MachineOptions& options);

}  // namespace strata
