#pragma once

// The parts of hwloc's XML that read_hwloc() puts together. Pure; thread-safe.
//
// The GPUs and network cards below a host bridge, with the bridges that join them: a bridge with
// nothing of interest is left out, and one with a single way on is part of that way.
//
// NVLinks, where hwloc was built with NVML: a matrix "NVLinkBandwidth" in MB/s. It is a
// <distances2> where it is over GPUs alone, and a <distances2hetero> where NVSwitches (their PCI
// devices) or processors (those of POWER have NVLinks) stand in it too.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/importers/topology/machine.h"
#include "sim/importers/topology/xml.h"

namespace strata {

struct HwlocIo {
  PartKind kind = PartKind::bridge;
  XmlElement element;
  BytesPerSecond speed;    ///< of the slowest link on its way up, on the wire; 0 where unknown
  std::string name = {};   ///< of a card
  std::string model = {};  ///< of a GPU, as its driver calls it; empty where hwloc doesn't say
  bool fabric = false;     ///< a card of an OpenFabrics driver, as of InfiniBand
  std::vector<std::uint64_t> indexes = {};  ///< its own and its drivers', as hwloc_index()
  std::vector<HwlocIo> below = {};
};

/// The number that distances name an object with. Throws InputError where it has none.
std::uint64_t hwloc_index(const XmlElement& object);

/// Of an object of type Bridge or PCIDev, and what hangs below it.
std::vector<HwlocIo> read_hwloc_io(const XmlElement& object);

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
