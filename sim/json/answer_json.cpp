#include "sim/json/answer_json.h"

#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/json/diff_json.h"
#include "sim/json/explain_json.h"
#include "sim/json/run_json.h"
#include "sim/json/solve_json.h"
#include "sim/search/within_memory.h"

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

template <class Value>
Json value_json(std::string_view key, const Value& value) {
  if constexpr (std::same_as<Value, std::string> || std::same_as<Value, OpenDims>) {
    return value.empty() ? Json(nullptr) : Json(value);
  } else if constexpr (std::floating_point<Value>) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
  } else if constexpr (std::same_as<Value, Bytes>) {
    return value.value;
  } else if constexpr (std::same_as<Value, unsigned>) {
    return value == 0 ? Json(nullptr) : Json(value);  // as many threads as there are cores
  } else if constexpr (Choice<Value>) {
    const SettingSpec* const spec = find_setting(key);
    const bool words = spec != nullptr && spec->form == ValueForm::choice;
    if (words) return print_setting(key, value);
    return value != Value{};
  } else {
    return value;
  }
}
template <class Value>
Json value_json(std::string_view key, const std::optional<Value>& value) {
  return value ? value_json(key, *value) : Json(nullptr);
}

Json what_ifs_json(const WhatIfs& what_ifs) {
  Json json = Json::object();
  for (const auto& [key, value] : what_ifs) {
    if (!json.contains(key)) {
      json[key] = value;
      continue;
    }
    // One after another: factors multiply.
    Json& all = json[key];
    if (!all.is_array()) all = Json::array({all});
    all.push_back(value);
  }
  return json;
}

Json found_json(const Answer& answer, const Solved& solved, bool interrupted) {
  const auto& request = std::get<SolveRequest>(answer.request);
  const Case& input = *answer.input;
  if (solved.best.empty()) {
    return {{"model", input.graph.name()},
            {"cluster", input.cluster.name()},
            {"strategy", nullptr},
            {"error", none_found(input, solved, request.search.memory_limit)}};
  }
  return solved_json(input, solve_names(request, input, interrupted), solved);
}

Json found_json(const Answer& answer, const RunAnswer& run) {
  const auto& request = std::get<RunRequest>(answer.request);
  return run_json({request.devices, run.machine, request.input.training}, run.report);
}

void add_request(const Answer& answer, Json& json) {
  json["settings"] = settings_json(answer.request);
  json["what_ifs"] = what_ifs_json(case_of(answer.request).sets);
  json["warnings"] = answer.warnings;
}

}  // namespace

Json settings_json(const Request& request) {
  Json json = Json::object();
  std::visit(
      [&](const auto& asked) {
        each_setting(asked, [&](std::string_view key, const auto& value) {
          json[std::string(key)] = value_json(key, value);
        });
        // A batch of all devices leaves none that is said of each.
        if (asked.input.training.batch) json["batch_per_device"] = nullptr;
      },
      request);
  return json;
}

Json to_json(const Answer& answer, const AnswerDetails& details) {
  struct Make {
    const Answer& answer;
    const AnswerDetails& details;
    Json operator()(const std::vector<Predicted>& /*found*/) const {
      return predict_json(answer, details.of_prediction);
    }
    Json operator()(const Solved& found) const {
      return found_json(answer, found, details.interrupted);
    }
    Json operator()(const Story& found) const { return story_json(*answer.input, found); }
    Json operator()(const ExplainedLayer& found) const {
      return explained_json(*answer.input, found);
    }
    Json operator()(const StrategyDiff& found) const { return diff_json(*answer.input, found); }
    Json operator()(const RunAnswer& found) const { return found_json(answer, found); }
  };
  Json json = std::visit(Make{answer, details}, answer.found);
  if (!json.is_array()) {
    add_request(answer, json);
    return json;
  }
  for (Json& each : json) add_request(answer, each);
  return json;
}

}  // namespace strata
