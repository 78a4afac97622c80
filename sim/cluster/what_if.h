#pragma once

// What if the network were twice as fast, or one device half as fast? Each function gives a copy
// of the cluster with other numbers; its routes are found anew, since latencies tell them apart.
//
// Selectors of links: "*", a kind ("intra", "inter") or a link's name. Of devices: "*", a kind, a
// device's name, a host, or "first:K" and "last:K", so many in the cluster's order (stragglers).
// What selects nothing is an InputError that lists what would.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "sim/cluster/cluster.h"

namespace strata {

struct Multiple {
  double value = 1;
};

/// Links without a limit (kNoLimit) keep it, unless only such are selected.
Cluster with_link_bandwidth(const Cluster& cluster, std::string_view selector,
                            std::variant<BytesPerSecond, Multiple> change);

/// A path's latency may rest on one of its links alone, as the grids' does: where some of the
/// selected links have latency, a new value goes to those only, and else to all.
Cluster with_link_latency(const Cluster& cluster, std::string_view selector,
                          std::variant<Seconds, Multiple> change);

Cluster with_device_speed(const Cluster& cluster, std::string_view selector,
                          std::variant<double, Multiple> change);

/// `value`: positive; of the kind's memory nothing is left.
Cluster with_device_memory(const Cluster& cluster, std::string_view selector, Bytes value);
Cluster with_device_memory_reserve(const Cluster& cluster, std::string_view selector, Bytes value);

/// What the value of a what-if is.
enum class WhatIfForm : std::uint8_t {
  bandwidth,  ///< "25 GB/s", or a factor: "2x"
  latency,    ///< "1 us", or a factor
  speed,      ///< a positive number, or a factor
  size,       ///< "40 GiB"
  duration,   ///< "80us"
  share,      ///< a number from 0, below 1
  word,       ///< one of a few
};

struct ClusterWhatIf {
  std::string_view key;  ///< with SELECTOR in it
  WhatIfForm form;
  Cluster (*change)(const Cluster& cluster, std::string_view selector, std::string_view value);
};
/// Every what-if of clusters, in the order in which messages list them.
std::span<const ClusterWhatIf> cluster_what_ifs();

/// What stands for SELECTOR of `pattern` in the key, which may hold dots; "" where a pattern
/// without one is the key. Nothing where the key is not of the pattern.
std::optional<std::string_view> selector_in(std::string_view key, std::string_view pattern);

/// One what-if of a cluster, KEY=VALUE.
Cluster apply(const Cluster& cluster, std::string_view key, std::string_view value);

}  // namespace strata
