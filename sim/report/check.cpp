#include "sim/report/check.h"

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {

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

}  // namespace strata
