#pragma once

// The GPUs and network cards below a host bridge of hwloc's, with the bridges that join them. A
// bridge with nothing of interest is left out, and one with a single way on is part of that way.

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

}  // namespace strata
