#pragma once

// Makes JSON of what can be named: networks, clusters and frameworks. Pure; thread-safe.

#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sim/case/framework.h"
#include "sim/graph/graph.h"
#include "sim/importers/topology/import.h"

namespace strata {

/// The networks and the clusters that come with Strata.
nlohmann::ordered_json models_json();
nlohmann::ordered_json clusters_json();

/// A network layer by layer, per sample.
nlohmann::ordered_json network_json(const Graph& graph);

/// A cluster that was read from a description of a real machine. `file`: where it is written; empty
/// where it is not.
nlohmann::ordered_json imported_cluster_json(const ImportedCluster& imported,
                                             const std::string& file);

/// How frameworks run a step, and where that is from.
nlohmann::ordered_json frameworks_json(std::span<const Framework> frameworks);

}  // namespace strata
