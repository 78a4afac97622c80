#pragma once

// How far a prediction may be trusted: what its compute time rests on, and how far off published
// steps of its sort were.

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "sim/case/predict.h"
#include "sim/graph/graph.h"
#include "sim/published/expected_error.h"

namespace strata {

/// "Not measured on a100 in fp16: 31% conv2d backward_weights (related), 12% batch_norm forward
/// (analytic)" and an end of line; empty where all is measured.
std::string not_measured_text(const Case& input, const Prediction& prediction);
nlohmann::ordered_json cost_basis_json(const Case& input, const Prediction& prediction);

/// As `uncosted`: {"layers", "ops", "macs_share", "activations_share", "parameters_share"}. The
/// share of the multiply-accumulates is null where there are such layers: nobody knows theirs.
void add_uncosted(const Graph& graph, nlohmann::ordered_json& json);

/// As `plausible` and `reason`, both null where the devices' peak is not known.
void add_plausibility(const Case& input, const Strategy& strategy, Seconds step,
                      nlohmann::ordered_json& json);

/// A line.
std::string expected_error_text(const std::optional<ExpectedError>& error);
/// As `expected_error` and `expected_error_from`, null where nothing is known.
void add_expected_error(const std::optional<ExpectedError>& error, nlohmann::ordered_json& json);

}  // namespace strata
