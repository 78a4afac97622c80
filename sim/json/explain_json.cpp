#include "sim/json/explain_json.h"

#include <nlohmann/json.hpp>

#include "sim/json/predict_json.h"
#include "sim/strategy/strategy_file.h"

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

Json seconds_or_null(Seconds seconds) {
  return seconds > Seconds{} ? Json(seconds.value) : Json(nullptr);
}

Json choice_json(const Case& input, const ChoiceCosts& costs, bool chosen) {
  Json json{{"config", degrees_json(costs.config.degrees)},
            {"step_seconds", seconds_or_null(costs.step)},
            {"fits", costs.fits},
            {"compute_seconds", costs.compute.value},
            {"transfer_in_seconds", costs.transfer_in.value},
            {"transfer_out_seconds", costs.transfer_out.value},
            {"sync_seconds", costs.sync.value},
            {"regret_seconds", costs.regret.value},
            {"chosen", chosen}};
  for (DeviceId device : costs.config.devices) {
    json["devices"].push_back(input.cluster[device].name);
  }
  json["binding_layer"] = nullptr;
  if (costs.binding.valid()) json["binding_layer"] = input.graph[costs.binding].name;
  json["binding_seconds"] = costs.binding_transfer.value;
  return json;
}

Json exposure_json(const Case& input, const Exposure& part) {
  Json json{{"kind", name(part.kind)}, {"layer", input.graph[part.layer].name}};
  json["producer"] = nullptr;
  if (part.producer.valid()) json["producer"] = input.graph[part.producer].name;
  json["lasts_seconds"] = part.lasts.value;
  json["exposed_seconds"] = part.exposed.value;
  return json;
}

Json exposures_json(const Case& input, const std::vector<Exposure>& parts) {
  Json json = Json::array();
  for (const Exposure& part : parts) json.push_back(exposure_json(input, part));
  return json;
}

Json turns_json(const std::vector<BreakEven>& turns) {
  Json json = Json::array();
  for (const BreakEven& turn : turns) {
    json.push_back({{"key", turn.key},
                    {"value", turn.value},
                    {"step_seconds", turn.step.value},
                    {"other_step_seconds", turn.other_step.value}});
  }
  return json;
}

Json busiest_json(const Busiest& busiest) {
  return {{"name", busiest.name}, {"share", busiest.share}};
}

Json rival_json(const Rival& rival) {
  return {{"strategy", rival.strategy.name()},
          {"step_seconds", rival.step.value},
          {"eq1_seconds", rival.eq1.value},
          {"critical_path", path_json(rival.path)},
          {"lasts_seconds", rival.communication.lasts.value},
          {"exposed_seconds", rival.communication.exposed.value},
          {"peak_memory_bytes", rival.peak_memory.value},
          {"fits", rival.fits},
          {"turns", turns_json(rival.turns)}};
}

}  // namespace

Json explained_json(const Case& input, const ExplainedLayer& explained) {
  const Explanation& explanation = explained.explanation;
  Json json{{"model", input.graph.name()},
            {"cluster", input.cluster.name()},
            {"strategy", explained.strategy.name()},
            {"layer", input.graph[explained.layer].name},
            {"step_seconds", seconds_or_null(explanation.step)},
            {"optimum_seconds", explanation.optimum.value}};
  for (LayerId id : explanation.layers) json["layers"].push_back(input.graph[id].name);
  json["config"] = degrees_json(explained.strategy[explained.layer].degrees);
  json["communication"] = exposures_json(input, explanation.exposures);
  json["best_other"] = nullptr;
  if (const auto best = explanation.best_other()) json["best_other"] = *best;
  json["turns"] = turns_json(explained.turns);
  json["all_tried"] = explained.all_tried;
  for (std::size_t i = 0; i < explanation.choices.size(); ++i) {
    json["configs"].push_back(choice_json(input, explanation.choices[i], explanation.chosen == i));
  }
  add_uncosted(input.graph, json);
  return json;
}

Json story_json(const Case& input, const Story& story) {
  Json json{{"model", input.graph.name()},
            {"cluster", input.cluster.name()},
            {"strategy", story.strategy.name()},
            {"step_seconds", story.step.value},
            {"eq1_seconds", story.eq1.value},
            {"lower_bound_seconds", story.lower_bound.value},
            {"critical_path", path_json(story.path)},
            {"breakdown", parts_json(story.parts)},
            {"lasts_seconds", story.exposures.all.lasts.value},
            {"exposed_seconds", story.exposures.all.exposed.value},
            {"communication", exposures_json(input, story.exposures.parts)},
            {"busiest_device", busiest_json(story.device)},
            {"busiest_link", story.link ? busiest_json(*story.link) : Json(nullptr)},
            {"peak_memory_bytes", story.peak_memory.value},
            {"fits", story.fits},
            {"nothing_fits", story.nothing_fits()}};
  json["rivals"] = Json::array();
  for (const Rival& rival : story.rivals) json["rivals"].push_back(rival_json(rival));
  json["all_tried"] = story.all_tried;
  json["story"] = sentences(input, story);
  add_uncosted(input.graph, json);
  return json;
}

}  // namespace strata
