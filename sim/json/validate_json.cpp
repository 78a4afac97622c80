#include "sim/json/validate_json.h"

#include <nlohmann/json.hpp>

#include "sim/json/fields.h"
#include "sim/plan/work_kind.h"

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

Json validated_case_json(const ValidateCase& c) {
  Json json = {{"model", c.model},
               {"devices", c.devices},
               {"batch", c.batch},
               {"strategy", c.strategy},
               {"predicted_seconds", c.predicted.value},
               {"profile_seconds", c.profile.value},
               {"eq1_seconds", c.eq1.value},
               {"measured_seconds", c.measured.value},
               {"spread_seconds", c.spread.value},
               {"measured_steps", c.samples},
               {"relative_error", c.relative_error()},
               {"relative_error_interval",
                {{"low", c.error.low}, {"high", c.error.high}, {"confidence", c.error.confidence}}},
               {"pairs", c.error.pairs},
               {"verdict", name(c.verdict)},
               {"comm_bytes", c.planned.total().value},
               {"moved_bytes", c.moved.total().value}};
  if (c.plain_loops) json["plain_loops"] = plain_loops_json(*c.plain_loops);
  return json;
}

Json more_json(const ValidateReport& report) {
  const auto more = report.to_judge();
  if (!more) return nullptr;
  return {{"rounds", more->rounds}, {"seconds", more->seconds.value}};
}

Json largest_error_json(const ValidateCase& c) {
  Json rows = Json::array();
  for (const ErrorRow& row : c.errors) {
    rows.push_back({{"layer", c.graph[row.of.layer].name},
                    {"layers", row.of.layers},
                    {"task", role_of(row.of.kind, row.of.phase).value_or(TaskRole{}).name},
                    {"tasks", row.tasks},
                    {"predicted_seconds", row.predicted.duration.value},
                    {"measured_seconds", row.measured.duration.value},
                    {"share", row.share}});
  }
  return {{"model", c.model}, {"devices", c.devices}, {"strategy", c.strategy}, {"rows", rows}};
}

}  // namespace

Json validate_json(const ValidateReport& report, const std::string& machine,
                   const ValidateRequest& request) {
  Json cases = Json::array();
  for (const ValidateCase& c : report.cases) cases.push_back(validated_case_json(c));
  return {{"machine", machine},
          {"device_names", request.devices},
          {"dtype", name(request.training.dtype)},
          {"graph", request.recorded},
          {"stopped", report.stopped},
          {"cases", cases},
          {"verdict", name(report.verdict())},
          {"limit", report.limit},
          {"judged_cases", report.judged_cases()},
          {"mean_absolute_error", report.mean_absolute_error()},
          {"max_absolute_error", report.max_absolute_error()},
          {"to_judge", more_json(report)},
          {"rank_agreement", report.rank_agreement()},
          {"ranked_pairs", report.ranked_pairs()},
          {"fastest_first", report.fastest_first()},
          {"sweeps", report.disturbance.of},
          {"disturbed_sweeps", report.disturbance.left_out},
          {"guard_threshold", report.disturbance.threshold},
          {"largest_error", largest_error_json(report.worst_case())}};
}

}  // namespace strata
