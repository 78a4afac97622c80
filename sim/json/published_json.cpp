#include "sim/json/published_json.h"

#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

Json error_summary_json(const ErrorSummary& errors) {
  return {{"rows", errors.rows}, {"mean_absolute_error", errors.mean}, {"median", errors.median},
          {"p95", errors.p95},   {"max_absolute_error", errors.worst}, {"bias", errors.bias}};
}

// Null for a half without rows.
Json summary_json(const PublishedResult& result, std::optional<bool> fitted) {
  if (errors_of(result, fitted).rows == 0) return nullptr;
  Json json = error_summary_json(errors_of(result, fitted));
  const RankSummary ranks = ranks_of(result, fitted);
  const auto where_any = [](std::size_t count, double value) {
    return count > 0 ? Json(value) : Json(nullptr);
  };
  json["networks"] = ranks.networks;
  json["rank_correlation"] = where_any(ranks.networks, ranks.correlation);
  json["least_rank_correlation"] = where_any(ranks.networks, ranks.least);
  json["exact_rank_correlation"] = where_any(ranks.networks, ranks.exact);
  json["choices"] = ranks.choices;
  json["regret"] = where_any(ranks.choices, ranks.regret);
  json["largest_regret"] = where_any(ranks.choices, ranks.most_regret);
  return json;
}

Json figure_json(const PublishedResult& result) {
  Json json = {{"title", result.table.title},          {"file", result.table.file},
               {"device", result.table.device},        {"source", result.table.source},
               {"licence", result.table.licence},      {"all", summary_json(result, std::nullopt)},
               {"fitted", summary_json(result, true)}, {"held_back", summary_json(result, false)}};
  json["rows"] = Json::array();
  for (std::size_t i = 0; i < result.answers.size(); ++i) {
    const PublishedStep& step = result.table.steps[i];
    const PublishedAnswer& answer = result.answers[i];
    Json row = {{"line", step.line},
                {"model", step.request.model},
                {"cluster", step.request.cluster},
                {"strategy", step.strategy},
                {"fitted", step.fitted},
                {"measured_seconds", step.measured.value}};
    row["predicted_seconds"] = answer.predicted.value;
    row["relative_error"] = result.error(i);
    json["rows"].push_back(std::move(row));
  }
  return json;
}

}  // namespace

Json published_json(std::span<const PublishedResult> results) {
  Json json;
  json["figures"] = Json::array();
  for (const PublishedResult& result : results) json["figures"].push_back(figure_json(result));
  return json;
}

}  // namespace strata
