#include "cli/output/json.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "cli/output/output.h"
#include "cli/output/trust_output.h"
#include "sim/case/rounds.h"
#include "sim/strategy/strategy_file.h"

namespace strata {
namespace {

nlohmann::ordered_json sources_json(const CostSources& sources) {
  const double sum = sources.total().value;
  const auto share = [&](Seconds part) { return sum > 0 ? part.value / sum : 0; };
  return {{"measured", share(sources.measured)},
          {"interpolated", share(sources.interpolated)},
          {"related", share(sources.related)},
          {"analytic", share(sources.analytic)}};
}

nlohmann::ordered_json times_json(const LayerTerms& terms) {
  return {{"compute_seconds", terms.compute.value},
          {"transfer_seconds", terms.transfer.value},
          {"sync_seconds", terms.sync.value}};
}

nlohmann::ordered_json layers_json(const Case& input, const Prediction& prediction) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < input.graph.size(); ++i) {
    const LayerId id(i);
    layers.push_back(layer_json(prediction.strategy, id, input.graph, input.cluster));
    layers.back().update(times_json(prediction.terms[i]));
  }
  return layers;
}

nlohmann::ordered_json memory_json(const Prediction& prediction) {
  nlohmann::ordered_json bytes = nlohmann::ordered_json::array();
  for (Bytes peak : prediction.peak_memory) bytes.push_back(peak.value);
  return bytes;
}

nlohmann::ordered_json breakdown_json(const Case& input, const Breakdown& breakdown) {
  nlohmann::ordered_json json = parts_json(breakdown.mean);
  json["devices"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < breakdown.devices.size(); ++i) {
    json["devices"].push_back({{"name", input.cluster[DeviceId(i)].name}});
    json["devices"].back().update(parts_json(breakdown.devices[i]));
  }
  return json;
}

nlohmann::ordered_json use_json(const Case& input, const Prediction& prediction) {
  const Utilisation use = utilisation(prediction.plan, prediction.timeline, input.cluster,
                                      prediction.step_seconds(), prediction.repeated);
  nlohmann::ordered_json json;
  for (std::size_t i = 0; i < use.devices.size(); ++i) {
    json["devices"].push_back(
        {{"name", input.cluster[DeviceId(i)].name}, {"compute_share", use.devices[i]}});
  }
  json["links"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < use.links.size(); ++i) {
    if (use.link_bytes[i] == 0) continue;
    json["links"].push_back({{"name", input.cluster[LinkId(i)].name},
                             {"bytes", use.link_bytes[i]},
                             {"bandwidth_share", use.links[i]}});
  }
  return json;
}

}  // namespace

void print_json(const nlohmann::ordered_json& document) {
  // Names of files need not be UTF-8, and JSON is.
  using Handler = nlohmann::ordered_json::error_handler_t;
  print("{}\n", document.dump(2, ' ', false, Handler::replace));
}

nlohmann::ordered_json field_json(const Field& field) {
  if (const auto* whole = std::get_if<std::int64_t>(&field)) return *whole;
  if (const auto* real = std::get_if<double>(&field)) return *real;
  if (const auto* text = std::get_if<std::string>(&field)) return *text;
  return nullptr;
}

nlohmann::ordered_json columns_json(const CaseResult& result,
                                    std::initializer_list<std::string_view> keys) {
  nlohmann::ordered_json json;
  for (const std::string_view key : keys) json[key] = field_json(field_of(column(key), result));
  return json;
}

nlohmann::ordered_json terms_json(const Degrees& degrees, const LayerTerms& terms) {
  nlohmann::ordered_json json{{"config", degrees_json(degrees)}};
  json.update(times_json(terms));
  return json;
}

nlohmann::ordered_json parts_json(const StepParts& parts) {
  const ExposedCommunication& exposed = parts.exposed;
  return {{"compute_seconds", parts.compute.value},
          {"recompute_seconds", parts.recompute.value},
          {"bubble_seconds", parts.bubble.value},
          {"exposed_communication_seconds",
           {{"transfer", exposed.transfer.value},
            {"reduce", exposed.reduce.value},
            {"gather", exposed.gather.value},
            {"statistics", exposed.statistics.value}}},
          {"optimizer_seconds", parts.optimizer.value},
          {"launch_seconds", parts.launch.value}};
}

nlohmann::ordered_json prediction_json(const Case& input, const Prediction& prediction) {
  const CaseResult result = result_of(input, prediction);
  nlohmann::ordered_json json =
      columns_json(result, {"model", "cluster", "strategy", "sync", "dtype", "devices", "batch",
                            "step_seconds", "bucket_bytes"});
  json["zero"] = static_cast<int>(input.sync.zero);
  json["offload"] = name(input.sync.offload);
  json["optimizer"] = name(input.optimizer);
  json["gradients"] = name(input.dtypes.gradients);
  json["recompute"] = name(input.recompute);
  json["as"] = input.framework;
  json["rounds"] = prediction.rounds;
  json["simulated_rounds"] = prediction.plan.rounds();
  json["schedule"] = schedule_used(input, prediction.strategy, prediction.rounds);
  json["makespan_seconds"] = prediction.makespan.value;
  json.update(columns_json(
      result, {"eq1_seconds", "throughput", "comm_bytes", "transfer_bytes", "sync_bytes"}));
  json["statistics_bytes"] = prediction.communication.statistics.value;
  json.update(columns_json(result, {"mfu", "hfu"}));
  add_plausibility(input, prediction.strategy, prediction.step_seconds(), json);
  add_uncosted(input.graph, json);
  json.update(columns_json(result, {"peak_memory_bytes"}));
  json["peak_memory_bytes_by_device"] = memory_json(prediction);
  json["joined_transfers"] = prediction.plan.joins_transfers();
  json["cost_sources"] = sources_json(prediction.sources);
  json["critical_path"] = path_json(prediction.path);
  json["breakdown"] = breakdown_json(input, prediction.breakdown);
  json["utilisation"] = use_json(input, prediction);
  json["layers"] = layers_json(input, prediction);
  return json;
}

nlohmann::ordered_json path_json(const PathShares& path) {
  return {{"compute_seconds", path.compute.value},
          {"transfer_seconds", path.transfer.value},
          {"sync_seconds", path.sync.value},
          {"statistics_seconds", path.statistics.value},
          {"idle_seconds", path.idle.value}};
}

nlohmann::ordered_json jitter_json(const Jitter& jitter, const JitteredSteps& steps) {
  return {{"seed", jitter.seed},
          {"steps", jitter.steps},
          {"p50_seconds", steps.p50.value},
          {"p95_seconds", steps.p95.value}};
}

}  // namespace strata
