#pragma once

// The cells of a phase map as cases on the desk, and what is said of them. Pure functions.

#include <QString>
#include <optional>
#include <utility>
#include <vector>

#include "gui/document/document.h"
#include "sim/study/phase_map/phase_map.h"

namespace strata::gui {

/// A column, and a row from the lowest on.
struct MapPlace {
  std::size_t column = 0, row = 0;
  bool operator==(const MapPlace&) const = default;
};

/// "Bandwidth between hosts", "Batch of a device", ...; other keys as they are.
QString axis_title(const std::string& key);

/// Whether the map is of this case but for the two numbers at its sides.
bool is_map_of(const PhaseMapRequest& map, const CaseRequest& input);
/// The cases of all cells of a map, row by row, as place_of() looks for them; nothing where there
/// is no such case. To make it loads clusters: once for a map, not whenever the desk changes.
struct MapCases {
  std::size_t columns = 0;
  std::vector<std::optional<CaseRequest>> cells = {};
};
MapCases cases_of(const PhaseMapRequest& map);
/// The cell that is this case; nothing where none is.
std::optional<MapPlace> place_of(const MapCases& cases, const CaseRequest& input);

/// The case of a cell under its winner, or under the desk's strategy where there is none. Cuts by
/// hand, which may be for other devices, stay on the desk before. A what-if has resized nothing of
/// it.
Document document_of_cell(const PhaseMapRequest& request, const PhaseMap& map, MapPlace place,
                          const Document& desk);

/// "owt wins; the next one's step is 1.31 times as long", "only owt fits in memory", or why nobody
/// wins.
QString winner_text(const PhaseMap& map, const MapCell& cell);
/// All that is known of a cell, in several lines: where it is, and every strategy's step.
QString cell_text(const PhaseMap& map, MapPlace place);

/// `strata map ...` that prints it.
QString map_command(const PhaseMapRequest& request);
QString map_csv(const PhaseMap& map);

}  // namespace strata::gui
