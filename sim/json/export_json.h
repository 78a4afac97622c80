#pragma once

// Makes JSON of what was written for other tools; each document names the files. Pure;
// thread-safe.

#include <cstddef>
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sim/case/predict.h"
#include "sim/exporters/chakra/chakra.h"
#include "sim/exporters/dtensor/dtensor.h"

namespace strata {

/// The network alone, as a graph.
nlohmann::ordered_json network_export_json(const Graph& graph, const std::string& file);
/// The network as a strategy cuts it, as a graph.
nlohmann::ordered_json graph_export_json(const Case& input, const Strategy& strategy,
                                         const std::string& file);
/// `steps` simulated steps as trace events.
nlohmann::ordered_json trace_export_json(const Case& input, const Strategy& strategy,
                                         const Timeline& timeline, std::size_t steps,
                                         std::span<const std::string> files);
/// The same as execution traces.
nlohmann::ordered_json chakra_export_json(const Case& input, const Strategy& strategy,
                                          const Timeline& timeline, std::size_t steps,
                                          const ChakraTraces& traces,
                                          std::span<const std::string> files);
/// A strategy as placements, with what they cannot express.
nlohmann::ordered_json dtensor_export_json(const Case& input, const Strategy& strategy,
                                           const DTensorLayout& layout, const std::string& file);

}  // namespace strata
