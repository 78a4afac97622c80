#pragma once

// Strata's values as JSON, with the keys of the documented interface.

#include <initializer_list>
#include <string_view>

#include <nlohmann/json.hpp>

#include "sim/case/predict.h"
#include "sim/geometry/geometry.h"

namespace strata {

/// Prints one JSON document, indented, with a final newline.
void print_json(const nlohmann::ordered_json& document);

template <class T>
nlohmann::ordered_json per_dim_json(const PerDim<T>& values) {
  nlohmann::ordered_json json;
  for (Dim dim : kDims) json[name(dim)] = values[dim];
  return json;
}

nlohmann::ordered_json field_json(const Field& field);
/// Columns of a result, null where it has none.
nlohmann::ordered_json columns_json(const CaseResult& result,
                                    std::initializer_list<std::string_view> keys);

/// How a layer is cut, and its terms of Eq. 1.
nlohmann::ordered_json terms_json(const Degrees& degrees, const LayerTerms& terms);

/// What the critical path is made of.
nlohmann::ordered_json path_json(const PathShares& path);

/// Where the time of a device's step goes.
nlohmann::ordered_json parts_json(const StepParts& parts);

/// What `strata predict --json` prints.
nlohmann::ordered_json prediction_json(const Case& input, const Prediction& prediction);
/// What --jitter adds to it.
nlohmann::ordered_json jitter_json(const Jitter& jitter, const JitteredSteps& steps);

}  // namespace strata
