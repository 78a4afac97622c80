#pragma once

// NVLinks as hwloc knows them where it was built with NVML: a matrix "NVLinkBandwidth" in MB/s. It
// is a <distances2> where it is over GPUs alone, and a <distances2hetero> where NVSwitches (their
// PCI devices) or processors (those of POWER have NVLinks) stand in it too. Pure; thread-safe.

#include <cstdint>
#include <map>
#include <vector>

#include "sim/importers/topology/machine.h"
#include "sim/importers/topology/xml.h"

namespace strata {

/// GPUs and processors, by the gp_index of all that hwloc made of each.
using HwlocIndex = std::map<std::uint64_t, std::size_t>;

struct HwlocNvLinks {
  std::vector<NvLink> links;
  std::size_t strangers = 0;  ///< ends that are neither GPU, processor nor NVSwitch, left out
};

/// Throws InputError "FILE:LINE: ...".
HwlocNvLinks read_hwloc_nvlinks(const XmlElement& topology, const std::vector<Part>& parts,
                                const HwlocIndex& index);

}  // namespace strata
