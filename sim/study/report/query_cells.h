#pragma once

// A query's rows as cells, tables and charts of a report. Pure.

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/report/document.h"
#include "sim/scenario/scenario.h"
#include "sim/store/store.h"

namespace strata {

/// "1 case", "2 cases".
std::string counted(std::int64_t count, std::string_view thing);

/// Columns that end in _seconds or _bytes are printed with units, and lose that part of their name.
ReportTable table_of(const QueryResult& result);

/// Throws InputError for a column that the query has not, or whose fields are no numbers.
Chart chart_of(const QueryResult& result, const ReportSection& section);

}  // namespace strata
