#pragma once

// One machine as its dumps describe it: processors at the roots, below them PCI bridges, GPUs and
// network cards, each with the bandwidth of its way up; NVLinks across. What the readers of this
// folder make, and what topology_of() turns into devices, switches and links. Values; thread-safe.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"

namespace strata {

enum class PartKind : std::uint8_t { processor, bridge, gpu, nic, core };

inline constexpr std::size_t kNoPart = std::numeric_limits<std::size_t>::max();

struct Part {
  PartKind kind = PartKind::bridge;
  std::string name;              ///< unique in its machine: "gpu0", "numa1", "mlx5_0"
  std::size_t parent = kNoPart;  ///< an earlier part; kNoPart for a processor
  BytesPerSecond up = {};        ///< to and from the parent, each direction
  std::string device_kind = {};  ///< of a GPU: "v100"
  /// Of a network card: all its ports together; 0 where the dump doesn't say.
  BytesPerSecond network = {};
  Seconds network_latency = {};  ///< to another card, over one switch; 0: not said

  bool operator==(const Part&) const = default;
};

/// From a GPU, one direction; all NVLinks between the same two together.
struct NvLink {
  std::size_t gpu = 0;
  std::size_t to = kNoPart;  ///< a GPU or a processor; kNoPart: the machine's NVSwitches
  BytesPerSecond bandwidth;

  bool operator==(const NvLink&) const = default;
};

struct Machine {
  std::vector<Part> parts;
  std::vector<NvLink> nvlinks;
  BytesPerSecond socket;           ///< between any two processors, each direction
  std::vector<std::string> notes;  ///< for people: what was assumed or left out
};

/// What the user says beside the dump; where nothing is said, the dump counts, or nominal.h.
struct MachineOptions {
  std::string kind;                       ///< of the GPUs
  std::string kind_if_unknown = {};       ///< of those whose kind the dump does not say
  std::optional<BytesPerSecond> nvlink;   ///< of one NVLink, each direction
  std::optional<BytesPerSecond> pcie;     ///< of each PCI link
  std::optional<BytesPerSecond> socket;   ///< between processors
  std::optional<BytesPerSecond> network;  ///< of each network card
  std::optional<Seconds> latency;         ///< of the network, from card to card
};

}  // namespace strata
