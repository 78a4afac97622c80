#pragma once

// How the library of collectives of a cluster (NCCL, say) moves bytes: by protocols, each of which
// is fast for tensors of some sizes. The figures are fitted to measurements of a fabric; a cluster
// file gives them in [collectives] (docs/clusters.md). Without them a collective has the whole
// bandwidth of its links and pays their latencies only. A value; thread-safe.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"

namespace strata {

class Table;

/// One way to pass a tensor's parts on from device to device.
struct TransferProtocol {
  std::string name;
  Seconds latency;           ///< of a collective, whatever its size and however many take part
  Seconds step;              ///< of each step inside a host, beyond the latency of its links
  Seconds network_step;      ///< likewise between hosts
  double share = 1;          ///< of the bandwidth of links that steps inside hosts can use
  double network_share = 1;  ///< likewise between hosts
  bool operator==(const TransferProtocol&) const = default;
};

/// Sums that the switch of a host does itself, as an NVSwitch does (NVLink SHARP): each device
/// sends it the tensor and gets the sum, and besides moves its own part once more.
struct SwitchSums {
  Seconds latency;   ///< beyond that of the links
  double share = 1;  ///< of their bandwidth
  bool operator==(const SwitchSums&) const = default;
};

/// An all-to-all in one domain, where it is not as fast as the protocols say: a library sends parts
/// from each device to each other, and copies the device's own.
struct AllToAlls {
  Seconds latency;   ///< whatever its size
  Seconds step;      ///< for each device that a device sends to
  double share = 1;  ///< of the links' bandwidth
  double copy = 0;   ///< parts that a device copies for itself, at that rate
  bool operator==(const AllToAlls&) const = default;
};

/// What sends tokens to experts, each once to a device that has several (DeepEP): inside a domain
/// to every such device, and between domains once to each.
struct TokenSends {
  Seconds latency;           ///< whatever the tokens
  double share = 1;          ///< of the bandwidth of links inside domains
  double network_share = 1;  ///< likewise between domains
  double forward_share = 1;  ///< of links inside where tokens also come from other domains
  Bytes row;                 ///< what a token's way inside a domain costs besides its own bytes
  bool operator==(const TokenSends&) const = default;
};

struct CommunicationLibrary {
  /// What a device reads or writes for itself, besides the parts that it passes on: in parts.
  double copy = 0;
  std::vector<TransferProtocol> protocols;  ///< none where nothing is known
  std::optional<SwitchSums> switch_sums = {};
  std::optional<AllToAlls> all_to_all = {};
  std::optional<TokenSends> token_sends = {};
  bool operator==(const CommunicationLibrary&) const = default;
};

/// Of a [collectives] table. Throws InputError with its place.
CommunicationLibrary read_library(Table table);
/// Such a table; empty where nothing is known.
std::string print_library(const CommunicationLibrary& library);

}  // namespace strata
