#include "gui/models/phase_map/map_cells.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gui/models/text.h"
#include "sim/base/error.h"

namespace strata::gui {
namespace {

QString translated(const char* text) {
  return QCoreApplication::translate("strata::gui::PhaseMap", text);
}

// What-ifs have no order.
CaseRequest in_order(CaseRequest input) {
  std::ranges::sort(input.sets);
  return input;
}

std::optional<CaseRequest> case_of(const PhaseMapRequest& map, std::size_t column,
                                   std::size_t row) try {
  return in_order(request_of(map, column, row));
} catch (const InputError&) {
  return std::nullopt;
}

QString score_line(const std::string& name, const MapScore& score) {
  const QString strategy = QString::fromStdString(name);
  if (!score.known()) return translated("%1: %2").arg(strategy, QString::fromStdString(score.why));
  const QString step =
      translated("%1: %2, %3 of memory")
          .arg(strategy, human_seconds(score.step), human_bytes(score.peak_memory));
  return score.fits ? step : translated("%1: more than a device has").arg(step);
}

QString axis_line(const MapAxis& axis, std::size_t value) {
  return axis_title(axis.key) + QStringLiteral(": ") + QString::fromStdString(axis.values[value]);
}

// Why nobody stands beside the winner.
QString alone_text(const MapCell& cell) {
  bool lacks_step = false, lacks_memory = false;
  for (std::size_t i = 0; i < cell.scores.size(); ++i) {
    if (i == *cell.winner) continue;
    lacks_step |= !cell.scores[i].known();
    lacks_memory |= cell.scores[i].known() && !cell.scores[i].fits;
  }
  if (lacks_step && lacks_memory) return translated("only %1 has a step and fits in memory");
  if (lacks_step) return translated("only %1 has a step");
  return lacks_memory ? translated("only %1 fits in memory")
                      : translated("%1 is the only strategy");
}

}  // namespace

QString axis_title(const std::string& key) {
  const auto is = [&](std::string_view part) { return key == part; };
  if (is(kBatchKey)) return translated("Batch of all devices");
  if (is(kBatchPerDeviceKey)) return translated("Batch of a device");
  if (is(kHostsKey)) return translated("Hosts");
  if (is(kDevicesPerHostKey)) return translated("Devices in a host");
  if (is("device.*.speed")) return translated("Speed of the devices");
  constexpr std::string_view kLink = "link.", kBandwidth = ".bandwidth";
  if (!key.starts_with(kLink) || !key.ends_with(kBandwidth)) return QString::fromStdString(key);
  const std::string kind = key.substr(kLink.size(), key.size() - kLink.size() - kBandwidth.size());
  if (kind == "inter") return translated("Bandwidth between hosts");
  if (kind == "intra") return translated("Bandwidth in a host");
  if (kind == "*") return translated("Bandwidth of all links");
  return translated("Bandwidth of %1 links").arg(QString::fromStdString(kind));
}

// Cells that have no case tell nothing, and those of one host nothing of links between hosts: the
// first and the last that are cases, then.
bool is_map_of(const PhaseMapRequest& map, const CaseRequest& input) {
  PhaseMapRequest other = map;
  other.input = input;
  const std::size_t columns = map.x.values.size(), count = columns * map.y.values.size();
  const auto decide = [&](std::size_t cell) -> std::optional<bool> {
    const auto own = case_of(map, cell % columns, cell / columns);
    const auto others = case_of(other, cell % columns, cell / columns);
    return own || others ? std::optional(own == others) : std::nullopt;
  };
  std::optional<bool> first, last;
  for (std::size_t i = 0; i < count && !first; ++i) first = decide(i);
  for (std::size_t i = count; i > 0 && !last; --i) last = decide(i - 1);
  return first.value_or(in_order(map.input) == in_order(input)) && last.value_or(count > 0);
}

MapCases cases_of(const PhaseMapRequest& map) {
  MapCases cases{map.x.values.size(), {}};
  cases.cells.reserve(map.x.values.size() * map.y.values.size());
  for (std::size_t row = 0; row < map.y.values.size(); ++row) {
    for (std::size_t column = 0; column < map.x.values.size(); ++column) {
      cases.cells.push_back(case_of(map, column, row));
    }
  }
  return cases;
}

std::optional<MapPlace> place_of(const MapCases& cases, const CaseRequest& input) {
  const CaseRequest sought = in_order(input);
  const auto found = std::ranges::find(cases.cells, std::optional(sought));
  if (found == cases.cells.end()) return std::nullopt;
  const auto place = static_cast<std::size_t>(found - cases.cells.begin());
  return MapPlace{place % cases.columns, place / cases.columns};
}

Document document_of_cell(const PhaseMapRequest& request, const PhaseMap& map, MapPlace place,
                          const Document& desk) {
  Document next = desk;
  next.input = request_of(request, place.column, place.row);
  next.base_cluster.clear();
  next.base_batch.reset();
  const MapCell& cell = map.at(place.column, place.row);
  if (cell.winner) {
    next.strategy = {map.strategies[*cell.winner]};
  } else if (desk.strategy.edited() && next.input.cluster != desk.input.cluster) {
    next.strategy = {};
  }
  return next;
}

QString winner_text(const PhaseMap& map, const MapCell& cell) {
  if (!cell.winner) return QString::fromStdString(why_no_winner(cell));
  const QString winner = QString::fromStdString(map.strategies[*cell.winner]);
  if (cell.margin == 0) return alone_text(cell).arg(winner);
  return translated("%1 wins; the next one's step is %2 times as long")
      .arg(winner)
      .arg(cell.margin, 0, 'f', 2);
}

QString cell_text(const PhaseMap& map, MapPlace place) {
  const MapCell& cell = map.at(place.column, place.row);
  QStringList lines{axis_line(map.x, place.column), axis_line(map.y, place.row)};
  if (cell.devices > 0) {
    lines << counted(static_cast<std::size_t>(cell.devices), translated("device")) +
                 translated(", a batch of %L1").arg(cell.batch);
  }
  lines << winner_text(map, cell);
  for (std::size_t i = 0; i < cell.scores.size(); ++i) {
    lines << score_line(map.strategies[i], cell.scores[i]);
  }
  return lines.join(QLatin1Char('\n'));
}

QString map_command(const PhaseMapRequest& request) {
  Document document;
  document.input = request.input;
  const auto option = [](const char* name, const std::string& value) {
    return fmt::format(" --{} {}", name, shell_quoted(value));
  };
  std::string text = "strata map " + case_arguments(document) + option("x", print_axis(request.x)) +
                     option("y", print_axis(request.y));
  if (!std::ranges::equal(request.strategies, kUsualMapStrategies)) {
    text += option("strategy", fmt::format("{}", fmt::join(request.strategies, ",")));
  }
  return QString::fromStdString(text);
}

// The desktop program ends lines with \n alone.
QString map_csv(const PhaseMap& map) {
  return QString::fromStdString(print_csv(table_of(map))).remove(QLatin1Char('\r'));
}

}  // namespace strata::gui
