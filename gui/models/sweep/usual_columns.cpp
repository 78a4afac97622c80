#include "gui/models/sweep/usual_columns.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <tuple>

namespace strata::gui {
namespace {

// The first of these names whose column varies.
std::optional<std::size_t> first_that_varies(const ResultSet& results,
                                             std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    const auto at = results.find(name);
    if (at && results[*at].varies()) return at;
  }
  return std::nullopt;
}

// What people look for first, from 0; of what-ifs, which have names of their own, 1.
int rank_as_x(const ResultColumn& column) {
  if (repeats(column)) return 6;
  if (column.name == "devices") return 0;
  if (column.name == "batch") return 2;  // it follows the devices
  if (column.numeric) return 1;
  return column.name == "cluster" ? 3 : column.name == "model" ? 4 : 5;
}

bool can_be_x(const ResultColumn& column) {
  return column.setting && column.varies() && column.name != "sweep" && column.name != "strategy";
}

// Of equal rank the one with the most values.
std::optional<std::size_t> usual_x(const ResultSet& results) {
  std::optional<std::size_t> x;
  const auto order = [&](std::size_t i) {
    return std::tuple(rank_as_x(results[i]), -static_cast<std::ptrdiff_t>(results[i].kinds.size()));
  };
  for (std::size_t i = 0; i < results.columns().size(); ++i) {
    if (can_be_x(results[i]) && (!x || order(i) < order(*x))) x = i;
  }
  const bool nothing_else = !x || repeats(results[*x]);
  if (const auto strategy = results.find("strategy"); strategy && nothing_else) return strategy;
  return x;
}

std::optional<std::size_t> usual_series(const ResultSet& results, std::size_t x) {
  constexpr std::array<std::string_view, 5> kCompared = {"strategy", "model", "sync", "cluster",
                                                         "dtype"};
  const auto series = first_that_varies(results, kCompared);
  if (series != x) return series;
  return first_that_varies(results, std::span(kCompared).subspan(1));
}

void drop_least(const ResultSet& results, std::size_t most, std::vector<std::size_t>& axes) {
  constexpr std::array<std::string_view, 9> kLeastFirst = {
      "jitter", "seed", "job", "sweep", "dtype", "comm_bytes", "throughput", "cluster", "sync"};
  for (const std::string_view least : kLeastFirst) {
    if (axes.size() <= most) return;
    std::erase_if(axes, [&](std::size_t axis) { return results[axis].name == least; });
  }
  axes.resize(std::min(axes.size(), most));
}

}  // namespace

bool repeats(const ResultColumn& column) {
  return column.name == "jitter" || column.name == "seed";
}

std::optional<ChartColumns> usual_columns(const ResultSet& results) {
  constexpr std::array kTimes = {"step_seconds", "measured_seconds", "eq1_seconds",
                                 "solve_seconds"};
  const auto y = std::find_if(kTimes.begin(), kTimes.end(),
                              [&](const char* name) { return results.find(name).has_value(); });
  const auto x = usual_x(results);
  if (y == kTimes.end() || !x) return std::nullopt;
  return ChartColumns{*x, *results.find(*y), usual_series(results, *x)};
}

std::vector<std::size_t> usual_axes(const ResultSet& results, std::size_t most) {
  constexpr std::array kAnswers = {"step_seconds", "throughput", "comm_bytes", "peak_memory_bytes",
                                   "measured_seconds"};
  std::vector<std::size_t> axes, last;
  for (std::size_t i = 0; i < results.columns().size(); ++i) {
    const ResultColumn& column = results[i];
    const bool answer = std::find(kAnswers.begin(), kAnswers.end(), column.name) != kAnswers.end();
    if (!column.varies() || (!column.setting && !answer)) continue;
    (repeats(column) ? last : axes).push_back(i);
  }
  axes.insert(axes.end(), last.begin(), last.end());
  drop_least(results, most, axes);
  return axes;
}

}  // namespace strata::gui
