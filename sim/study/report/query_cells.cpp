#include "sim/study/report/query_cells.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

Cell cell_of(const Field& field, Quantity quantity) {
  return {text_of(field, quantity), number_in(field)};
}

std::size_t column(const QueryResult& result, const std::string& name) {
  const auto at = std::find(result.columns.begin(), result.columns.end(), name);
  if (at != result.columns.end()) return static_cast<std::size_t>(at - result.columns.begin());
  throw InputError(fmt::format("the query has no column '{}'; it has: {}", name,
                               fmt::join(result.columns, ", ")));
}

double y_number(const Field& field, const std::string& name) {
  if (std::holds_alternative<std::monostate>(field)) return kNoNumber;
  if (const auto number = number_in(field)) return *number;
  throw InputError(fmt::format("column '{}' holds '{}', which is no number", name, text_of(field)));
}

bool all_numbers(const QueryResult& result, std::size_t x) {
  return std::all_of(result.rows.begin(), result.rows.end(),
                     [&](const auto& row) { return number_in(row[x]).has_value(); });
}

double place_of(std::vector<std::string>& names, const std::string& name) {
  auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) at = names.insert(names.end(), name);
  return static_cast<double>(at - names.begin());
}

ChartSeries& series_of(std::vector<ChartSeries>& all, const std::string& name) {
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const ChartSeries& s) { return s.name == name; });
  if (at != all.end()) return *at;
  all.push_back({name, {}, {}, {}});
  return all.back();
}

}  // namespace

std::string counted(std::int64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

ReportTable table_of(const QueryResult& result) {
  ReportTable table;
  for (const std::string& name : result.columns) {
    table.columns.emplace_back(key_unit(name).name);
  }
  for (const auto& row : result.rows) {
    auto& cells = table.rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(cell_of(row[i], key_unit(result.columns[i]).quantity));
    }
  }
  return table;
}

Chart chart_of(const QueryResult& result, const ReportSection& section) {
  using Kind = ReportSection::Kind;
  Chart chart;
  chart.kind = section.kind == Kind::bars      ? ChartKind::bars
               : section.kind == Kind::scatter ? ChartKind::scatter
                                               : ChartKind::lines;
  chart.x_label = section.x_label;
  chart.y_label = section.y_label;
  chart.log_x = section.log_x;
  chart.log_y = section.log_y;
  const std::size_t x = column(result, section.x), y = column(result, section.y);
  const bool counted = chart.kind == ChartKind::bars || !all_numbers(result, x);
  for (const auto& row : result.rows) {
    const std::string name =
        section.series.empty() ? "" : text_of(row[column(result, section.series)]);
    ChartSeries& series = series_of(chart.series, name);
    series.x.push_back(counted ? place_of(chart.categories, text_of(row[x])) : *number_in(row[x]));
    series.y.push_back(y_number(row[y], section.y));
    if (section.ideal.empty()) continue;
    series.ideal.push_back(y_number(row[column(result, section.ideal)], section.ideal));
  }
  return chart;
}

}  // namespace strata
