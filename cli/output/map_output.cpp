#include "cli/output/map_output.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/output/table.h"

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

// "owt 1.31x": the next one takes 1.31 times as long.
std::string cell_text(const PhaseMap& map, const MapCell& cell) {
  if (!cell.winner) return "-";
  const std::string& name = map.strategies[*cell.winner];
  return cell.margin > 0 ? fmt::format("{} {:.2f}x", name, cell.margin) : name;
}

std::string grid_text(const PhaseMap& map) {
  std::vector<TextTable::Column> columns{{map.y.key, TextTable::left}};
  for (const std::string& value : map.x.values) columns.push_back({value, TextTable::left});
  TextTable table(std::move(columns));
  for (std::size_t row = 0; row < map.y.values.size(); ++row) {
    std::vector<std::string> cells{map.y.values[row]};
    for (std::size_t column = 0; column < map.x.values.size(); ++column) {
      cells.push_back(cell_text(map, map.at(column, row)));
    }
    table.add_row(std::move(cells));
  }
  return table.print();
}

std::string without_winner(const PhaseMap& map) {
  std::string text;
  for (std::size_t row = 0; row < map.y.values.size(); ++row) {
    for (std::size_t column = 0; column < map.x.values.size(); ++column) {
      if (map.at(column, row).winner) continue;
      text += fmt::format("{} {}, {} {}: {}\n", map.x.key, map.x.values[column], map.y.key,
                          map.y.values[row], why_no_winner(map.at(column, row)));
    }
  }
  return text.empty() ? text : "\nWithout a winner:\n" + text;
}

std::string without_step(const PhaseMap& map) {
  std::string text;
  for (std::size_t i = 0; i < map.strategies.size(); ++i) {
    const std::string why = why_no_step(map, i);
    if (why.empty()) continue;
    const std::size_t line = std::min(why.find('\n'), why.size());  // one for each thing wrong
    text += fmt::format("  {}: {}{}\n", map.strategies[i], why.substr(0, line),
                        line < why.size() ? " ..." : "");
  }
  return text.empty() ? text : "\nWithout a step in any cell:\n" + text;
}

}  // namespace

Json map_json(const PhaseMap& map) {
  Json json{{"x", axis_json(map.x)}, {"y", axis_json(map.y)}, {"strategies", map.strategies}};
  json["cells"] = Json::array();
  for (std::size_t row = 0; row < map.y.values.size(); ++row) {
    for (std::size_t column = 0; column < map.x.values.size(); ++column) {
      json["cells"].push_back(map_cell_json(map, column, row));
    }
  }
  json["crossovers"] = Json::array();
  for (const Crossover& at : crossovers(map)) json["crossovers"].push_back(crossover_json(map, at));
  return json;
}

std::string map_text(const PhaseMap& map) {
  std::string text = fmt::format(
      "The fastest of {} that every device has the memory for, and how many times as long the "
      "next one takes,\nby {} (across) and {} (down):\n\n{}",
      fmt::join(map.strategies, ", "), map.x.key, map.y.key, grid_text(map));
  std::string lines;
  for (const Crossover& at : crossovers(map)) {
    const MapAxis& other = at.along_x ? map.y : map.x;
    const std::string& value = other.values[at.along_x ? at.row : at.column];
    lines += fmt::format("  {} {}: {}\n", other.key, value, crossover_text(map, at));
  }
  if (!lines.empty()) text += "\nWhere the winner changes:\n" + lines;
  return text + without_winner(map) + without_step(map);
}

}  // namespace strata
