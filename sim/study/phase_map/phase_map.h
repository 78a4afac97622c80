#pragma once

// Which strategy wins where: the same network under several strategies over two numbers of the
// case (the bandwidth of links, the batch, hosts, devices), each cell of the plane being a case of
// its own, and the lines at which another strategy takes over. Thread-safe.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/document.h"
#include "sim/study/phase_map/map_axis.h"

namespace strata {

/// As the setting `strategy` takes them. `eq1` and `optimal` are searched for in each cell,
/// whatever memory they need: where the devices lack it, they do not win there, even if another one
/// under the same name would fit.
inline constexpr std::string_view kUsualMapStrategies[] = {"data", "model", "owt", "eq1"};

struct PhaseMapRequest {
  CaseRequest input;
  MapAxis x, y;
  std::vector<std::string> strategies = {std::begin(kUsualMapStrategies),
                                         std::end(kUsualMapStrategies)};
  unsigned threads = 0;  ///< 0: all cores; the map never depends on it

  bool operator==(const PhaseMapRequest&) const = default;
};

/// A strategy in a cell.
struct MapScore {
  Seconds step = {};  ///< 0: it has none there
  Bytes peak_memory = {};
  bool fits = true;      ///< no device needs more memory than it has
  std::string why = {};  ///< it has no step

  bool known() const { return step > Seconds{}; }
  bool may_win() const { return known() && fits; }
  bool operator==(const MapScore&) const = default;
};

struct MapCell {
  std::int64_t devices = 0, batch = 0;
  std::vector<MapScore> scores = {};  ///< by strategy; empty where there is no such case
  std::string error = {};             ///< why there is none
  /// The place of the fastest strategy that every device has the memory for: of those whose steps
  /// differ from the fastest by less than can be seen (kVisible), the one that is named first.
  std::optional<std::size_t> winner = {};
  /// How many times as long the step of the next one is, at least 1; 0 where there is none.
  double margin = 0;

  bool operator==(const MapCell&) const = default;
};

struct PhaseMap {
  MapAxis x, y;
  std::vector<std::string> strategies;
  std::vector<MapCell> cells;  ///< row by row: all of y's first value, ...

  const MapCell& at(std::size_t column, std::size_t row) const {
    return cells[row * x.values.size() + column];
  }
};

/// Between a cell and the next one along an axis, where different strategies win.
struct Crossover {
  bool along_x = true;
  std::size_t column = 0, row = 0;  ///< of the first cell
  std::size_t from = 0, to = 0;     ///< strategies
  /// About where their steps are equal, as text of the axis: "2.3x". Empty where one of them lacks
  /// the memory, or has no step, in one of the cells: it is not their speed that tells. Empty also
  /// where one of the cells is a tie (MapCell::winner).
  std::string about = {};

  bool operator==(const Crossover&) const = default;
};

/// The case of a cell. What-ifs of links that this size of the cluster has not are left out: the
/// bandwidth between hosts says nothing of one host. Throws InputError as with_value().
CaseRequest request_of(const PhaseMapRequest& request, std::size_t column, std::size_t row);

/// `found`: called for each cell when it is known, from one thread at a time, with its place in
/// PhaseMap::cells. Throws Cancelled, and InputError for an axis, a value of one (the other
/// number being as the request has it) or a strategy that is wrong by itself; what is wrong in a
/// cell alone stands there.
PhaseMap phase_map(const PhaseMapRequest& request, const std::atomic<bool>* cancelled = nullptr,
                   const std::function<void(std::size_t, const MapCell&)>& found = {});

/// Row by row, along x, then along y: where the winner of a cell loses to another in the next. The
/// steps are taken to change evenly in logarithms between the two.
std::vector<Crossover> crossovers(const PhaseMap& map);
/// "data, from about link.inter.bandwidth 2.3x on owt".
std::string crossover_text(const PhaseMap& map, const Crossover& crossover);

/// A row for each strategy of each cell, for print_csv().
ReportTable table_of(const PhaseMap& map);

/// "no strategy has a step", "no strategy fits in memory": of a cell without a winner.
std::string why_no_winner(const MapCell& cell);

/// Of a strategy that has a step in no cell: why, in the first one that says so. Else empty.
std::string why_no_step(const PhaseMap& map, std::size_t strategy);

}  // namespace strata
