#include "sim/json/run_json.h"

#include <nlohmann/json.hpp>

#include "sim/json/fields.h"

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

void add_test(Json& json, const TestResult& test) {
  json["test_accuracy"] = test.accuracy;
  json["test_loss"] = test.loss;
  json["test_samples"] = test.samples;
}

Json differences_json(double loss, double gradients, double weights) {
  return {{"loss", loss}, {"gradients", gradients}, {"weights", weights}};
}

Json differences_json(const Differences& d) {
  return differences_json(d.loss, d.gradients.value, d.weights.value);
}

Json difference_json(const TensorDifference& d) {
  return {{"layer", d.layer}, {"what", d.what},        {"step", d.step},
          {"shard", d.shard}, {"difference", d.value}, {"allowed", d.allowed}};
}

Json layer_check_json(const LayerCheck& check) {
  if (!check.skipped.empty()) return {{"skipped", check.skipped}};
  Json beyond = Json::array();
  for (const TensorDifference& d : check.beyond) beyond.push_back(difference_json(d));
  return {{"layers", check.layers},
          {"steps", check.steps},
          {"largest", difference_json(check.largest)},
          {"beyond", beyond}};
}

void add_check(Json& json, const Check& check) {
  json["check"] = name(check.verdict());
  json["max_relative_difference"] = differences_json(check.differences);
  json["worst_layers"] = {{"gradients", check.differences.gradients.layer},
                          {"weights", check.differences.weights.layer}};
  json["tolerance"] = check.tolerance;
  const Allowance allowed = check.allowed();
  json["allowed"] = differences_json(allowed.loss, allowed.gradients, allowed.weights);
  json["rounding"] = nullptr;
  if (check.rounding) json["rounding"] = differences_json(*check.rounding);
  json["layer_check"] = layer_check_json(check.layers);
}

Json costs_json(const CostsUsed& costs) {
  if (!costs.files.empty()) return {{"source", "profile"}, {"files", costs.files}};
  Json json = {{"source", costs.measured == 0 ? "kept" : "measured"},
               {"kept", costs.kept},
               {"measured", costs.measured},
               {"measure_seconds", costs.took.value}};
  if (!costs.folder.empty()) json["folder"] = costs.folder;
  if (costs.kept > 0) {
    json["oldest"] = costs.oldest;
    json["newest"] = costs.newest;
  }
  return json;
}

Json issue_json(const IssueTimes& issue, std::size_t tasks) {
  return {{"median", issue.median.value},
          {"min", issue.min.value},
          {"per_task", issue.min.value / static_cast<double>(tasks)}};
}

}  // namespace

Json run_json(const RunNames& names, const RunReport& report) {
  const TrainedSteps& training = report.trained;
  const Communication& moved = training.moved_per_step;
  Json json = {{"model", report.graph.name()},
               {"devices", report.cluster.device_count()},
               {"device_names", names.devices},
               {"machine", names.machine},
               {"strategy", report.strategy.name()},
               {"sync", name(names.training.sync.algorithm)},
               {"bucket_bytes", names.training.sync.bucket_in_use().value},
               {"zero", static_cast<int>(names.training.sync.zero)},
               {"zero_group", names.training.sync.zero_group},
               {"optimizer", name(names.training.optimizer)},
               {"overlap", name(names.training.overlap)},
               {"recompute", name(names.training.recompute)},
               {"train", names.training.train.empty() ? "full" : names.training.train},
               {"rounds", report.plan.rounds()},
               {"schedule", report.schedule},
               {"batch", report.graph.batch()},
               {"steps", training.losses.size()},
               {"timed_steps", training.times.count},
               {"step_seconds",
                {{"median", training.times.median.value},
                 {"min", training.times.min.value},
                 {"p90", training.times.p90.value}}},
               {"throughput", report.throughput()},
               {"losses", training.losses},
               {"comm_bytes", moved.total().value},
               {"transfer_bytes", moved.transfer.value},
               {"sync_bytes", moved.sync.value},
               {"statistics_bytes", moved.statistics.value}};
  if (training.issue) json["issue_seconds"] = issue_json(*training.issue, report.plan.size());
  if (training.plain_loops) json["plain_loops"] = plain_loops_json(*training.plain_loops);
  if (report.test) add_test(json, *report.test);
  if (report.check) add_check(json, *report.check);
  if (report.costs) json["costs"] = costs_json(*report.costs);
  if (report.predicted) json["predicted_seconds"] = report.predicted->step_seconds().value;
  return json;
}

}  // namespace strata
