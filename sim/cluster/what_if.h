#pragma once

// What if the network were twice as fast, or one device half as fast? Each function gives a copy
// of the cluster with other numbers; its routes are found anew, since latencies tell them apart.
//
// Selectors of links: "*", a kind ("intra", "inter") or a link's name. Of devices: "*", a kind, a
// device's name, a host, or "first:K" and "last:K", so many in the cluster's order (stragglers).
// What selects nothing is an InputError that lists what would.

#include <span>
#include <string_view>
#include <variant>

#include "sim/cluster/cluster.h"
#include "sim/text/what_if_key.h"

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

/// Replaces the memory of the kind.
Cluster with_device_memory(const Cluster& cluster, std::string_view selector, Bytes value);
Cluster with_device_memory_reserve(const Cluster& cluster, std::string_view selector, Bytes value);

/// Of each protocol by which the cluster's library of collectives moves bytes, or of the only one
/// where it names none. Throws InputError where it is not above 0 and at most 1.
Cluster with_network_share(const Cluster& cluster, std::variant<double, Multiple> change);

/// The links up from the network's switches carry what those below a switch do together, over
/// `ratio` (1 or more); in a network of one switch it is those of the cards to it, as if each
/// domain had a switch of its own below it. Nothing changes where there is no network.
Cluster with_oversubscription(const Cluster& cluster, double ratio);

/// What a synchronous step waits for: each host's computation takes its own time, normally spread
/// by this share of it, and all wait for the slowest, so all compute as slowly as the slowest of so
/// many hosts is expected to.
Cluster with_host_jitter(const Cluster& cluster, double share);
/// How long the slowest host computes, of what a usual one takes: 1 or more.
double slowest_host(const Cluster& cluster, double share);

struct ClusterWhatIf {
  std::string_view key;  ///< with SELECTOR in it
  WhatIfForm form;
  Cluster (*change)(const Cluster& cluster, std::string_view selector, std::string_view value);
};
/// Every what-if of clusters, in the order in which messages list them.
std::span<const ClusterWhatIf> cluster_what_ifs();

/// One what-if of a cluster, KEY=VALUE.
Cluster apply(const Cluster& cluster, std::string_view key, std::string_view value);

}  // namespace strata
