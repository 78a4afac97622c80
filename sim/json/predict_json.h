#pragma once

// Makes JSON of predictions, and the parts of it that other answers have as well. Pure;
// thread-safe.

#include <optional>

#include <nlohmann/json_fwd.hpp>

#include "sim/ask/ask.h"
#include "sim/case/predict.h"
#include "sim/graph/graph.h"
#include "sim/importers/trace/read_trace.h"
#include "sim/study/validate/kernel_times.h"
#include "sim/trust/expected_error.h"
#include "sim/trust/step_interval.h"

namespace strata {

/// These are told on request alone.
struct PredictionDetails {
  bool kept_tensors = false;     ///< those that the fullest device keeps, one by one
  const Trace* trace = nullptr;  ///< whose kernels stand beside the prediction
};

/// One prediction is an object, several are an array. Precondition: the answer has predictions.
nlohmann::ordered_json predict_json(const Answer& answer, const PredictionDetails& details = {});

/// The figures of a prediction, without what an Answer adds to them.
nlohmann::ordered_json prediction_json(const Case& input, const Prediction& prediction);
/// The parts of the critical path.
nlohmann::ordered_json path_json(const PathShares& path);
/// The parts of a device's step.
nlohmann::ordered_json parts_json(const StepParts& parts);
/// The seed and the count of `jitter` stand beside what the steps take.
nlohmann::ordered_json jitter_json(const Jitter& jitter, const JitteredSteps& steps);
/// The fullest device tells what it holds at its peak; with `tensors`, each that it keeps.
nlohmann::ordered_json peak_json(const Case& input, const Prediction& prediction,
                                 std::optional<Bytes> limit, bool tensors);
nlohmann::ordered_json cost_basis_json(const Case& input, const Prediction& prediction);
nlohmann::ordered_json beside_json(const Case& input, const TraceComparison& compared);

/// Adds `uncosted`: {"layers", "ops", "macs_share", "activations_share", "parameters_share"}. The
/// share of the multiply-accumulates is null where there are such layers: nobody knows theirs.
void add_uncosted(const Graph& graph, nlohmann::ordered_json& json);
/// Adds `plausible` and `reason`, both null where the devices' peak is not known.
void add_plausibility(const Case& input, const Strategy& strategy, Seconds step,
                      nlohmann::ordered_json& json);
/// Adds `interval_seconds` and `interval_from`, of a step that is predicted to take so long.
void add_interval(const StepInterval& interval, Seconds step, nlohmann::ordered_json& json);
/// Adds `expected_error` and `expected_error_from`, null where nothing is known.
void add_expected_error(const std::optional<ExpectedError>& error, nlohmann::ordered_json& json);

}  // namespace strata
