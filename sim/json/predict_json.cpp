#include "sim/json/predict_json.h"

#include <cstdint>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/case/cost_basis.h"
#include "sim/case/memory_need.h"
#include "sim/case/plausibility.h"
#include "sim/case/rounds.h"
#include "sim/json/fields.h"
#include "sim/strategy/strategy_file.h"
#include "sim/timeline/memory.h"

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

Json sources_json(const CostSources& sources) {
  const double sum = sources.total().value;
  const auto share = [&](Seconds part) { return sum > 0 ? part.value / sum : 0; };
  return {{"measured", share(sources.measured)},
          {"interpolated", share(sources.interpolated)},
          {"related", share(sources.related)},
          {"analytic", share(sources.analytic)}};
}

Json layers_json(const Case& input, const Prediction& prediction) {
  Json layers = Json::array();
  for (std::size_t i = 0; i < input.graph.size(); ++i) {
    const LayerId id(i);
    layers.push_back(layer_json(prediction.strategy, id, input.graph, input.cluster));
    layers.back().update(times_json(prediction.terms[i]));
  }
  return layers;
}

Json peaks_json(const Prediction& prediction) {
  Json bytes = Json::array();
  for (Bytes peak : prediction.peak_memory) bytes.push_back(peak.value);
  return bytes;
}

Json breakdown_json(const Case& input, const Breakdown& breakdown) {
  Json json = parts_json(breakdown.mean);
  json["devices"] = Json::array();
  for (std::size_t i = 0; i < breakdown.devices.size(); ++i) {
    json["devices"].push_back({{"name", input.cluster[DeviceId(i)].name}});
    json["devices"].back().update(parts_json(breakdown.devices[i]));
  }
  return json;
}

Json utilisation_json(const Case& input, const Prediction& prediction) {
  const Utilisation use = utilisation(prediction.plan, prediction.timeline, input.cluster,
                                      prediction.step_seconds(), prediction.repeated);
  Json json;
  for (std::size_t i = 0; i < use.devices.size(); ++i) {
    json["devices"].push_back(
        {{"name", input.cluster[DeviceId(i)].name}, {"compute_share", use.devices[i]}});
  }
  json["links"] = Json::array();
  for (std::size_t i = 0; i < use.links.size(); ++i) {
    if (use.link_bytes[i] == 0) continue;
    json["links"].push_back({{"name", input.cluster[LinkId(i)].name},
                             {"bytes", use.link_bytes[i]},
                             {"bandwidth_share", use.links[i]}});
  }
  return json;
}

Json pass_json(const Case& input, const ComparedPass& pass) {
  Json json{{"device", traced_device(input, pass.what.device)},
            {"layer", input.graph[pass.what.layer].name},
            {"pass", name(pass.what.pass)},
            {"kernels", pass.kernels},
            {"measured_seconds", pass.traced.value},
            {"predicted_seconds", nullptr}};
  if (pass.predicted > Seconds{}) json["predicted_seconds"] = pass.predicted.value;
  return json;
}

Json predicted_json(const Answer& answer, const Predicted& predicted,
                    const PredictionDetails& details) {
  const Case& input = *answer.input;
  const auto& [prediction, jitter, fits] = predicted;
  Json json = prediction_json(input, prediction);
  const auto& limit = std::get<PredictRequest>(answer.request).search.memory_limit;
  const MemoryFit fit = fits ? memory_need(input, prediction, limit).fit() : MemoryFit::no;
  json["fits"] = kMemoryFitNames[static_cast<std::size_t>(fit)];
  add_expected_error(answer.expected_error, json);
  add_interval(answer.interval.value(), prediction.step_seconds(), json);
  json["cost_basis"] = cost_basis_json(input, prediction);
  json["memory"] = peak_json(input, prediction, limit, details.kept_tensors);
  if (jitter) {
    const std::uint64_t seed = std::get<PredictRequest>(answer.request).jitter.value();
    json["jitter"] = jitter_json({seed}, *jitter);
  }
  if (details.trace != nullptr) {
    json["beside"] = beside_json(input, compare_kernels(*details.trace, input, prediction));
  }
  return json;
}

}  // namespace

Json predict_json(const Answer& answer, const PredictionDetails& details) {
  const auto& predictions = std::get<std::vector<Predicted>>(answer.found);
  if (predictions.size() == 1) return predicted_json(answer, predictions.front(), details);
  Json json = Json::array();
  for (const Predicted& each : predictions) json.push_back(predicted_json(answer, each, details));
  return json;
}

Json prediction_json(const Case& input, const Prediction& prediction) {
  const CaseResult result = result_of(input, prediction);
  Json json = columns_json(result, {"model", "cluster", "strategy", "sync", "dtype", "devices",
                                    "batch", "step_seconds", "bucket_bytes"});
  json["zero"] = static_cast<int>(input.sync.zero);
  json["zero_group"] = input.sync.zero_group;
  json["offload"] = name(input.sync.offload);
  json["optimizer"] = name(input.optimizer);
  json["gradients"] = name(input.dtypes.gradients);
  json["overlap"] = name(input.schedule.overlap);
  json["recompute"] = name(input.recompute);
  json["train"] = input.train.empty() ? "full" : input.train;
  json["trained_parameters"] = input.graph.trained_parameters();
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
  json["peak_memory_bytes_by_device"] = peaks_json(prediction);
  json["joined_transfers"] = prediction.plan.joins_transfers();
  json["cost_sources"] = sources_json(prediction.sources);
  json["critical_path"] = path_json(prediction.path);
  json["breakdown"] = breakdown_json(input, prediction.breakdown);
  json["utilisation"] = utilisation_json(input, prediction);
  json["layers"] = layers_json(input, prediction);
  add_columns(ColumnGroup::step, result, json);
  return json;
}

Json path_json(const PathShares& path) {
  return {{"compute_seconds", path.compute.value},
          {"transfer_seconds", path.transfer.value},
          {"sync_seconds", path.sync.value},
          {"statistics_seconds", path.statistics.value},
          {"idle_seconds", path.idle.value}};
}

Json parts_json(const StepParts& parts) {
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

Json jitter_json(const Jitter& jitter, const JitteredSteps& steps) {
  return {{"seed", jitter.seed},
          {"steps", jitter.steps},
          {"p50_seconds", steps.p50.value},
          {"p95_seconds", steps.p95.value}};
}

Json peak_json(const Case& input, const Prediction& prediction, std::optional<Bytes> limit,
               bool tensors) {
  const DeviceId device = fullest(prediction.peak_memory);
  const MemoryParts parts = memory_at_peak(prediction.plan, prediction.timeline, device);
  Json json = {
      {"device", input.cluster[device].full_name()},  {"parameters_bytes", parts.parameters.value},
      {"gradients_bytes", parts.gradients.value},     {"optimizer_bytes", parts.optimizer.value},
      {"activations_bytes", parts.activations.value}, {"buffers_bytes", parts.buffers.value}};
  const MemoryNeed need = memory_need(input, prediction, limit);
  json["reserve_bytes"] = need.reserve().value;
  json["reserve"] = {{"context_bytes", need.context.value},
                     {"channels_bytes", need.channels.value},
                     {"blocks_bytes", need.blocks.value}};
  json["needed_bytes"] = need.needed().value;
  if (!tensors) return json;
  Json& kept = json["kept"] = Json::array();
  for (const BufferId id : kept_at_peak(prediction.plan, prediction.timeline, device)) {
    const Buffer& buffer = prediction.plan[id];
    kept.push_back({{"layer", input.graph[buffer.layer].name},
                    {"what", kept_name(buffer)},
                    {"bytes", buffer.bytes.value}});
  }
  return json;
}

Json cost_basis_json(const Case& input, const Prediction& prediction) {
  Json json = Json::array();
  for (const CostBasis& basis : cost_basis(input, prediction)) {
    json.push_back({{"op", basis.op},
                    {"phase", name(basis.phase)},
                    {"source", name(basis.source)},
                    {"share", basis.share}});
  }
  return json;
}

Json beside_json(const Case& input, const TraceComparison& compared) {
  Json json{{"measured_step_seconds", nullptr},
            {"busy_seconds", compared.busy.value},
            {"steps", compared.steps},
            {"known_share", compared.known_share}};
  if (compared.steps > 0) json["measured_step_seconds"] = compared.traced_step.value;
  json["passes"] = Json::array();
  for (const ComparedPass& pass : compared.passes) json["passes"].push_back(pass_json(input, pass));
  return json;
}

void add_uncosted(const Graph& graph, Json& json) {
  const Uncosted found = uncosted(graph);
  json["uncosted"] = {{"layers", found.layers},
                      {"ops", found.ops},
                      {"macs_share", nullptr},
                      {"activations_share", found.activations},
                      {"parameters_share", found.parameters}};
  if (found.layers == 0) json["uncosted"]["macs_share"] = 0;
}

void add_plausibility(const Case& input, const Strategy& strategy, Seconds step, Json& json) {
  const std::optional<Plausibility> found = plausibility(input, strategy, step);
  json["plausible"] = nullptr;
  json["reason"] = nullptr;
  if (!found) return;
  json["plausible"] = found->plausible;
  if (!found->reason.empty()) json["reason"] = found->reason;
}

void add_interval(const StepInterval& interval, Seconds step, Json& json) {
  json["interval_seconds"] = {{"low", interval.low * step.value},
                              {"high", interval.high * step.value}};
  json["interval_from"] = {{"basis", kIntervalBasisNames[static_cast<std::size_t>(interval.basis)]},
                           {"figures", interval.figures},
                           {"rows", interval.rows}};
}

void add_expected_error(const std::optional<ExpectedError>& error, Json& json) {
  json["expected_error"] = nullptr;
  json["expected_error_from"] = nullptr;
  if (!error) return;
  json["expected_error"] = error->mean;
  json["expected_error_from"] = {{"figures", error->figures}, {"fitted", error->fitted},
                                 {"rows", error->rows},       {"devices", error->devices},
                                 {"hosts", error->hosts},     {"parameters", error->parameters},
                                 {"p95", error->p95}};
}

}  // namespace strata
