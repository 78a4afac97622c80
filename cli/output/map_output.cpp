#include "cli/output/map_output.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/output/table.h"

namespace strata {
namespace {

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
