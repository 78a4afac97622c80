#include "sim/json/solve_json.h"

#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "sim/json/fields.h"
#include "sim/json/predict_json.h"
#include "sim/strategy/strategy_file.h"

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

Json scored_json(const Case& input, const Scored& scored) {
  return columns_json(result_of(input, scored),
                      {"eq1_seconds", "step_seconds", "comm_bytes", "peak_memory_bytes", "fits"});
}

Json strategy_json(const Case& input, const Strategy& strategy) {
  return Json::parse(print_strategy(strategy, input.graph, input.cluster));
}

}  // namespace

SolveNames solve_names(const SolveRequest& request, const Case& input, bool was_interrupted) {
  const DegreeSet degrees =
      request.search.space.degrees.value_or(usual_degrees(input.cluster.device_count()));
  return {print_setting("degrees", degrees),
          print_setting("objective", objective_of(request.search)),
          print_setting("algorithm", request.search.algorithm), request.keep, was_interrupted};
}

Json solved_json(const Case& input, const SolveNames& names, const Solved& solved) {
  const Scored& best = solved.best.front();
  const CaseResult result = result_of(input, best);
  Json json = columns_json(
      result, {"model", "cluster", "sync", "dtype", "devices", "batch", "bucket_bytes"});
  json["degrees"] = names.degrees;
  json["objective"] = names.objective;
  json["algorithm"] = names.algorithm;
  json["kept"] = names.kept;
  json.update(scored_json(input, best));
  if (best.simulated()) {
    json.update(columns_json(result, {"throughput", "mfu"}));
    add_plausibility(input, best.strategy, best.step, json);
  }
  add_uncosted(input.graph, json);
  json["optimal"] = solved.optimal;
  json["lower_bound_seconds"] = solved.lower_bound.value;
  const bool has_gap = !solved.outside && std::isfinite(solved.least().value);
  json["gap"] = has_gap ? Json(solved.gap()) : Json(nullptr);
  json["stopped"] = solved.stopped;
  json["memory_checked"] = best.has_peak();
  json["in_space"] = !solved.outside;
  json["table_seconds"] = solved.table_seconds;
  json["solve_seconds"] = solved.solve_seconds;
  json["refine_seconds"] = solved.refine_seconds;
  json["evaluations"] = solved.evaluations;
  json["final_nodes"] = solved.final_nodes;
  json["max_configs"] = solved.max_configs;
  json["variables"] = solved.variables;
  json["log10_strategies"] = solved.log10_strategies;
  for (const Scored& usual : solved.baselines) {
    json["baselines"][usual.strategy.name()] = scored_json(input, usual);
  }
  json["strategy"] = strategy_json(input, best.strategy);
  json["best"] = Json::array();
  for (const Scored& scored : solved.best) {
    Json entry = scored_json(input, scored);
    entry["strategy"] = strategy_json(input, scored.strategy);
    json["best"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace strata
