#include "sim/json/map_json.h"

#include <nlohmann/json.hpp>

#include "sim/json/predict_json.h"

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

Json axis_json(const MapAxis& axis) {
  return {{"key", axis.key}, {"values", axis.values}};
}

Json score_json(const std::string& strategy, const MapScore& score) {
  Json json{{"strategy", strategy}, {"step_seconds", nullptr}, {"peak_memory_bytes", nullptr}};
  if (score.known()) {
    json["step_seconds"] = score.step.value;
    json["peak_memory_bytes"] = score.peak_memory.value;
    json["fits"] = score.fits;
  } else {
    json["why"] = score.why;
  }
  return json;
}

Json map_cell_json(const PhaseMap& map, std::size_t column, std::size_t row) {
  const MapCell& cell = map.at(column, row);
  Json json{{"x", map.x.values[column]}, {"y", map.y.values[row]}};
  json["devices"] = cell.devices;
  json["batch"] = cell.batch;
  json["winner"] = cell.winner ? Json(map.strategies[*cell.winner]) : Json(nullptr);
  json["margin"] = cell.margin > 0 ? Json(cell.margin) : Json(nullptr);
  if (!cell.error.empty()) json["error"] = cell.error;
  json["strategies"] = Json::array();
  for (std::size_t i = 0; i < cell.scores.size(); ++i) {
    json["strategies"].push_back(score_json(map.strategies[i], cell.scores[i]));
  }
  return json;
}

Json crossover_json(const PhaseMap& map, const Crossover& at) {
  const MapAxis& axis = at.along_x ? map.x : map.y;
  const std::size_t place = at.along_x ? at.column : at.row;
  const std::string& other = at.along_x ? map.y.values[at.row] : map.x.values[at.column];
  return {{"along", axis.key},
          {"at", other},
          {"after", axis.values[place]},
          {"before", axis.values[place + 1]},
          {"about", at.about.empty() ? Json(nullptr) : Json(at.about)},
          {"from", map.strategies[at.from]},
          {"to", map.strategies[at.to]}};
}

}  // namespace

Json map_json(const Graph& graph, const PhaseMap& map) {
  Json json{{"x", axis_json(map.x)}, {"y", axis_json(map.y)}, {"strategies", map.strategies}};
  json["cells"] = Json::array();
  for (std::size_t row = 0; row < map.y.values.size(); ++row) {
    for (std::size_t column = 0; column < map.x.values.size(); ++column) {
      json["cells"].push_back(map_cell_json(map, column, row));
    }
  }
  json["crossovers"] = Json::array();
  for (const Crossover& at : crossovers(map)) json["crossovers"].push_back(crossover_json(map, at));
  add_uncosted(graph, json);
  return json;
}

}  // namespace strata
