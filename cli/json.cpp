#include "cli/json.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/output.h"

namespace strata {
namespace {

nlohmann::ordered_json sources_json(const CostSources& sources) {
  const double sum = sources.total().value;
  const auto share = [&](Seconds part) { return sum > 0 ? part.value / sum : 0; };
  return {{"measured", share(sources.measured)},
          {"interpolated", share(sources.interpolated)},
          {"analytic", share(sources.analytic)}};
}

nlohmann::ordered_json layers_json(const Case& input, const Prediction& prediction) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < input.graph.size(); ++i) {
    const LayerTerms& terms = prediction.terms[i];
    layers.push_back({{"name", input.graph[LayerId(i)].name},
                      {"config", per_dim_json(prediction.strategy[LayerId(i)].degrees)},
                      {"compute_seconds", terms.compute.value},
                      {"transfer_seconds", terms.transfer.value},
                      {"sync_seconds", terms.sync.value}});
  }
  return layers;
}

nlohmann::ordered_json memory_json(const Prediction& prediction) {
  nlohmann::ordered_json bytes = nlohmann::ordered_json::array();
  for (Bytes peak : prediction.peak_memory) bytes.push_back(peak.value);
  return bytes;
}

nlohmann::ordered_json path_json(const PathShares& path) {
  return {{"compute_seconds", path.compute.value},
          {"transfer_seconds", path.transfer.value},
          {"sync_seconds", path.sync.value},
          {"statistics_seconds", path.statistics.value},
          {"idle_seconds", path.idle.value}};
}

nlohmann::ordered_json use_json(const Case& input, const Prediction& prediction) {
  const Utilisation use = utilisation(prediction.plan, prediction.timeline, input.cluster);
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

nlohmann::ordered_json prediction_json(const Case& input, const Prediction& prediction) {
  const Seconds step = prediction.step_seconds();
  const Communication& comm = prediction.communication;
  const auto peak = std::max_element(prediction.peak_memory.begin(), prediction.peak_memory.end());
  return {{"model", input.graph.name()},
          {"cluster", input.cluster.name()},
          {"strategy", prediction.strategy.name()},
          {"sync", name(input.sync.algorithm)},
          {"bucket_bytes", input.sync.bucket_in_use().value},
          {"dtype", name(input.dtypes.values)},
          {"devices", input.cluster.device_count()},
          {"batch", input.graph.batch()},
          {"step_seconds", step.value},
          {"makespan_seconds", prediction.timeline.makespan().value},
          {"eq1_seconds", prediction.eq1_seconds().value},
          {"throughput", static_cast<double>(input.graph.batch()) / step.value},
          {"comm_bytes", comm.total().value},
          {"transfer_bytes", comm.transfer.value},
          {"sync_bytes", comm.sync.value},
          {"statistics_bytes", comm.statistics.value},
          {"peak_memory_bytes", peak->value},
          {"peak_memory_bytes_by_device", memory_json(prediction)},
          {"cost_sources", sources_json(prediction.sources)},
          {"critical_path", path_json(prediction.path)},
          {"utilisation", use_json(input, prediction)},
          {"layers", layers_json(input, prediction)}};
}

nlohmann::ordered_json jitter_json(const Jitter& jitter, const JitteredSteps& steps) {
  return {{"seed", jitter.seed},
          {"steps", jitter.steps},
          {"p50_seconds", steps.p50.value},
          {"p95_seconds", steps.p95.value}};
}

}  // namespace strata
