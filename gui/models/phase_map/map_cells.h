#pragma once

// The cells of a phase map as cases on the desk, and what is said of them. Pure functions.

#include <QString>
#include <optional>
#include <utility>

#include "gui/models/document.h"
#include "sim/study/phase_map/phase_map.h"

namespace strata::gui {

/// A column, and a row from the lowest on.
struct MapPlace {
  std::size_t column = 0, row = 0;
  bool operator==(const MapPlace&) const = default;
};

/// "Bandwidth of inter links", "Batch of a device", ...; other keys as they are.
QString axis_title(const std::string& key);

/// Whether the map is of this case but for the two numbers at its sides.
bool is_map_of(const PhaseMapRequest& map, const CaseRequest& input);
/// The cell that is this case; nothing where none is.
std::optional<MapPlace> place_of(const PhaseMapRequest& map, const CaseRequest& input);

/// The case of a cell under its winner, or under the desk's strategy where there is none. Cuts by
/// hand, which may be for other devices, stay on the desk before.
Document document_of_cell(const PhaseMapRequest& request, const PhaseMap& map, MapPlace place,
                          const Document& desk);

/// "owt wins, 1.31 times as fast as the next", or why nobody does.
QString winner_text(const PhaseMap& map, const MapCell& cell);
/// All that is known of a cell, in several lines: where it is, and every strategy's step.
QString cell_text(const PhaseMap& map, MapPlace place);

/// `strata map ...` that prints it.
QString map_command(const PhaseMapRequest& request);
QString map_csv(const PhaseMap& map);

}  // namespace strata::gui
