#include "sim/study/phase_map/phase_map.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/ask/ask.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/base/parallel.h"
#include "sim/case/case_loader.h"
#include "sim/cluster/presets.h"
#include "sim/cluster/what_if.h"
#include "sim/explain/break_even.h"
#include "sim/scenario/settings.h"
#include "sim/search/score.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/strategy_file.h"

namespace strata {
namespace {

constexpr std::size_t kMostCells = 1'000'000;

// Cells are worked on side by side, each by one thread. A search for what fits in memory takes a
// minute where hardly anything does; what is found without a limit either fits, and is what a
// search within the limit finds, or is passed over.
MapScore score_in(PredictRequest request, const std::string& strategy,
                  const AskOptions& options) try {
  request.strategy = strategy;
  const Answer answer = ask(request, options);
  const Predicted& found = std::get<std::vector<Predicted>>(answer.found).front();
  return {found.prediction.step_seconds(), found.prediction.largest_peak(), found.fits};
} catch (const InputError& error) {
  MapScore score;
  score.why = error.message();
  return score;
}

void find_winner(MapCell& cell) {
  Seconds fastest{kInfinity};
  for (const MapScore& score : cell.scores) {
    if (score.may_win()) fastest = std::min(fastest, score.step);
  }
  for (std::size_t i = 0; i < cell.scores.size() && !cell.winner; ++i) {
    const MapScore& score = cell.scores[i];
    if (score.may_win() && score.step.value <= fastest.value * (1 + kVisible)) {
      cell.winner = i;
    }
  }
  Seconds next{kInfinity};
  for (std::size_t i = 0; i < cell.scores.size(); ++i) {
    if (i != cell.winner && cell.scores[i].may_win()) {
      next = std::min(next, cell.scores[i].step);
    }
  }
  if (cell.winner && next.value < kInfinity)
    cell.margin = std::max(1.0, next / cell.scores[*cell.winner].step);
}

MapCell cell_of(const PhaseMapRequest& request, std::size_t column, std::size_t row,
                CaseLoader& loader, const std::atomic<bool>* cancelled) {
  MapCell cell;
  try {
    PredictRequest asked;
    asked.input = request_of(request, column, row);
    asked.search.memory_limit = kAnyMemory;
    asked.detail = Detail::memory;
    asked.refuse_slow = true;
    AskOptions options;
    options.input = std::make_shared<const Case>(loader.load(asked.input));
    CaseMemo memo(*options.input);
    options.memo = &memo;
    options.cancelled = cancelled;
    options.warnings = Warnings::none;
    options.threads = 1;
    cell.devices = static_cast<std::int64_t>(options.input->cluster.device_count());
    cell.batch = options.input->batch();
    for (const std::string& strategy : request.strategies) {
      cell.scores.push_back(score_in(asked, strategy, options));
    }
  } catch (const InputError& error) {
    cell.error = error.message();
  }
  find_winner(cell);
  return cell;
}

void check_names(const std::vector<std::string>& strategies) {
  const std::span<const std::string_view> known = setting("strategy").choices;
  if (strategies.empty()) throw InputError("no strategy; allowed: at least one");
  for (auto name = strategies.begin(); name != strategies.end(); ++name) {
    if (std::find(strategies.begin(), name, *name) != name) {
      throw InputError(fmt::format("strategy {} is there twice; allowed: each once", *name));
    }
    if (std::ranges::find(known, *name) != known.end()) continue;
    if (is_hybrid(*name)) {
      parse_hybrid(*name);
      continue;
    }
    if (name->ends_with(".json")) {
      read_strategy_names(*name);  // whether it fits a case, the case's cell says
      continue;
    }
    throw InputError(
        fmt::format("unknown strategy '{}'; allowed: {}, {}, or a file ending in .json", *name,
                    fmt::join(known, ", "), kHybridForm));
  }
}

bool has_links(const Cluster& cluster, const std::string& key) try {
  apply(cluster, key, "1x");
  return true;
} catch (const InputError&) {
  return false;
}

// One host has no links between hosts: what changes them in the cluster `named` changes nothing in
// this size of it.
CaseRequest without_absent_links(CaseRequest input, const std::string& named) {
  if (input.cluster == named || input.sets.empty()) return input;
  const Cluster cluster = load_cluster(input.cluster);
  std::erase_if(input.sets, [&](const auto& set) {
    return set.first.starts_with("link.") && !has_links(cluster, set.first) &&
           has_links(load_cluster(named), set.first);
  });
  return input;
}

void check_map(const PhaseMapRequest& request, CaseLoader& loader) {
  check_names(request.strategies);
  const auto [x, y] = std::pair(request.x.values.size(), request.y.values.size());
  for (const MapAxis* axis : {&request.x, &request.y}) {
    if (!axis->values.empty()) continue;
    throw InputError(fmt::format("axis {} has no values; allowed: at least one", axis->key));
  }
  if (is_one_number(request.x.key, request.y.key)) {
    throw InputError(fmt::format("the axes {} and {} are one number; allowed: two", request.x.key,
                                 request.y.key));
  }
  if (x > kMostCells / y) {
    throw InputError(fmt::format("a map of {} x {} cells; allowed: up to {}", x, y, kMostCells));
  }
  for (const MapAxis* axis : {&request.x, &request.y}) {
    for (const std::string& value : axis->values) {
      loader.load(
          without_absent_links(with_value(request.input, axis->key, value), request.input.cluster));
    }
  }
}

// Of two that are as fast, to what can be seen, the one that is named first wins: it need not be
// the fastest, nor take over where their steps are equal.
bool is_tie(const MapCell& cell) {
  return cell.margin <= 1 + kVisible;
}

// Where the logarithm of the steps' ratio is 0, between its values at two cells.
std::string about(const PhaseMap& map, const Crossover& at, const MapCell& cell,
                  const MapCell& next) {
  for (const MapCell* one : {&cell, &next}) {
    const bool both = one->scores[at.from].may_win() && one->scores[at.to].may_win();
    if (!both || is_tie(*one)) return {};
  }
  const MapAxis& axis = at.along_x ? map.x : map.y;
  const std::size_t place = at.along_x ? at.column : at.row;
  const std::optional<double> here = number_of(axis, place), there = number_of(axis, place + 1);
  if (!here || !there || *here <= 0 || *there <= 0) return {};
  const double lead = std::log(cell.scores[at.to].step / cell.scores[at.from].step);
  const double lag = std::log(next.scores[at.from].step / next.scores[at.to].step);
  const double share = lead + lag > 0 ? std::clamp(lead / (lead + lag), 0.0, 1.0) : 0.5;
  return text_between(axis, place, *here * std::pow(*there / *here, share));
}

void add_crossover(const PhaseMap& map, Crossover at, std::vector<Crossover>& found) {
  const MapCell& cell = map.at(at.column, at.row);
  const MapCell& next = map.at(at.column + (at.along_x ? 1 : 0), at.row + (at.along_x ? 0 : 1));
  if (!cell.winner || !next.winner || cell.winner == next.winner) return;
  at.from = *cell.winner;
  at.to = *next.winner;
  at.about = about(map, at, cell, next);
  found.push_back(std::move(at));
}

Cell number_cell(double value) {
  return {fmt::format("{}", value), value};
}

std::vector<Cell> row_of(const PhaseMap& map, std::size_t column, std::size_t row,
                         std::size_t strategy) {
  const MapCell& cell = map.at(column, row);
  const MapScore& score = cell.scores[strategy];
  std::vector<Cell> cells{{map.x.values[column], {}},
                          {map.y.values[row], {}},
                          number_cell(static_cast<double>(cell.devices)),
                          number_cell(static_cast<double>(cell.batch)),
                          {map.strategies[strategy], {}}};
  if (score.known()) {
    cells.push_back(number_cell(score.step.value));
    cells.push_back(number_cell(static_cast<double>(score.peak_memory.value)));
    cells.push_back({score.fits ? "1" : "0", {}});
  } else {
    cells.resize(cells.size() + 3);
  }
  cells.push_back({cell.winner == strategy ? "1" : "0", {}});
  cells.push_back({score.why, {}});
  return cells;
}

}  // namespace

CaseRequest request_of(const PhaseMapRequest& request, std::size_t column, std::size_t row) {
  CaseRequest input = with_value(request.input, request.x.key, request.x.values.at(column));
  return without_absent_links(with_value(std::move(input), request.y.key, request.y.values.at(row)),
                              request.input.cluster);
}

PhaseMap phase_map(const PhaseMapRequest& request, const std::atomic<bool>* cancelled,
                   const std::function<void(std::size_t, const MapCell&)>& found) {
  CaseLoader loader;
  check_map(request, loader);
  const std::size_t columns = request.x.values.size();
  PhaseMap map{request.x, request.y, request.strategies, {}};
  map.cells.resize(columns * request.y.values.size());
  std::mutex telling;
  parallel_for(map.cells.size(), request.threads, [&](std::size_t i, unsigned) {
    throw_if_cancelled(cancelled);
    map.cells[i] = cell_of(request, i % columns, i / columns, loader, cancelled);
    const std::lock_guard lock(telling);
    if (found) found(i, map.cells[i]);
  });
  return map;
}

std::vector<Crossover> crossovers(const PhaseMap& map) {
  std::vector<Crossover> found;
  const std::size_t columns = map.x.values.size(), rows = map.y.values.size();
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column + 1 < columns; ++column) {
      add_crossover(map, {true, column, row}, found);
    }
  }
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t row = 0; row + 1 < rows; ++row) {
      add_crossover(map, {false, column, row}, found);
    }
  }
  return found;
}

std::string crossover_text(const PhaseMap& map, const Crossover& at) {
  const MapAxis& axis = at.along_x ? map.x : map.y;
  const std::size_t place = at.along_x ? at.column : at.row;
  const std::string where = at.about.empty() ? axis.values[place + 1] : "about " + at.about;
  return fmt::format("{}, from {} {} on {}", map.strategies[at.from], axis.key, where,
                     map.strategies[at.to]);
}

ReportTable table_of(const PhaseMap& map) {
  ReportTable table{{map.x.key, map.y.key, "devices", "samples", "strategy", "step_seconds",
                     "peak_memory_bytes", "fits", "wins", "why"},
                    {}};
  for (std::size_t row = 0; row < map.y.values.size(); ++row) {
    for (std::size_t column = 0; column < map.x.values.size(); ++column) {
      for (std::size_t i = 0; i < map.at(column, row).scores.size(); ++i) {
        table.rows.push_back(row_of(map, column, row, i));
      }
    }
  }
  return table;
}

std::string why_no_winner(const MapCell& cell) {
  if (!cell.error.empty()) return cell.error;
  const bool known = std::ranges::any_of(cell.scores, &MapScore::known);
  return known ? "no strategy that was tried fits in memory" : "no strategy has a step";
}

std::string why_no_step(const PhaseMap& map, std::size_t strategy) {
  std::string why;
  for (const MapCell& cell : map.cells) {
    if (strategy >= cell.scores.size()) continue;
    if (cell.scores[strategy].known()) return {};
    if (why.empty()) why = cell.scores[strategy].why;
  }
  return why;
}

}  // namespace strata
