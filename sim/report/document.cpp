#include "sim/report/document.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::reproduced:
      return "reproduced";
    case Verdict::differs:
      return "differs";
    case Verdict::unanswered:
      return "unanswered";
  }
  throw InternalError("report: no such verdict");
}

std::string_view symbol(Verdict verdict) {
  if (verdict == Verdict::reproduced) return "\xE2\x9C\x93";  // check mark
  return verdict == Verdict::differs ? "\xE2\x89\xA0" : "?";  // not equal
}

ReportTable table_of(const std::vector<ReportClaim>& claims) {
  ReportTable table{{"Claim", "Said", "Found", "Difference", "Verdict", "Why"}, {}};
  for (const ReportClaim& claim : claims) {
    const std::string verdict =
        std::string(symbol(claim.verdict)) + " " + std::string(name(claim.verdict));
    table.rows.push_back({{claim.text, {}},
                          {claim.said, {}},
                          {claim.found, {}},
                          {claim.difference, {}},
                          {verdict, {}},
                          {claim.why, {}}});
  }
  return table;
}

void check(const ReportTable& table) {
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (table.rows[i].size() == table.columns.size()) continue;
    throw InternalError(fmt::format("report: row {} of a table has {} cells for {} columns", i,
                                    table.rows[i].size(), table.columns.size()));
  }
}

void check(const Chart& chart) {
  for (const ChartSeries& series : chart.series) {
    const bool ideal = series.ideal.empty() || series.ideal.size() == series.x.size();
    if (series.x.size() == series.y.size() && ideal) continue;
    throw InternalError(fmt::format("report: series '{}' has {} x, {} y and {} ideal values",
                                    series.name, series.x.size(), series.y.size(),
                                    series.ideal.size()));
  }
}

std::vector<bool> number_columns(const ReportTable& table) {
  std::vector<bool> numbers;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto is_number = [i](const auto& row) { return row[i].number.has_value(); };
    const auto fits = [i](const auto& row) { return row[i].number || row[i].text.empty(); };
    numbers.push_back(std::any_of(table.rows.begin(), table.rows.end(), is_number) &&
                      std::all_of(table.rows.begin(), table.rows.end(), fits));
  }
  return numbers;
}

}  // namespace strata
