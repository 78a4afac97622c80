#pragma once

// Makes JSON of an answer, whatever was asked: what `strata COMMAND --json` prints. Pure;
// thread-safe.

#include <nlohmann/json_fwd.hpp>

#include "sim/ask/ask.h"
#include "sim/json/predict_json.h"

namespace strata {

/// What an answer does not know.
struct AnswerDetails {
  PredictionDetails of_prediction = {};
  bool interrupted = false;  ///< what stopped, was stopped by a person; else by its time limit
};

/// Each answer ends with `settings`, `what_ifs` and `warnings`. Several predictions are an array,
/// of one each. Of a search that found nothing, `strategy` is null, and `error` says why.
nlohmann::ordered_json to_json(const Answer& answer, const AnswerDetails& details = {});

/// All settings of a request by key, null where one is not set: {"model": "vgg16", ...}.
nlohmann::ordered_json settings_json(const Request& request);

}  // namespace strata
