#pragma once

// A query's rows as cells, tables and charts of a report. Pure.

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/report/document.h"
#include "sim/scenario/scenario.h"
#include "sim/store/store.h"

namespace strata {

/// What is told without a query: a row for each case, in the order of the scenario, for that of
/// answering is the threads'.
inline constexpr const char* kEachCase =
    "SELECT sweep, job, model, cluster, strategy, varies, step_seconds, comm_bytes, "
    "peak_memory_bytes, error FROM cases ORDER BY sweep IS NULL, sweep, "
    "(SELECT c.ordinal FROM scenario AS n JOIN scenario_case AS c ON c.scenario = n.id "
    "WHERE c.key = (SELECT key FROM result WHERE id = cases.id) "
    "ORDER BY n.recorded DESC, n.id DESC, c.ordinal LIMIT 1), ordinal";

/// "1 case", "2 cases".
std::string counted(std::int64_t count, std::string_view thing);

/// Columns that end in _seconds or _bytes are printed with units, and lose that part of their name.
ReportTable table_of(const QueryResult& result);

/// Throws InputError for a column that the query has not, or whose fields are no numbers.
Chart chart_of(const QueryResult& result, const ReportSection& section);

}  // namespace strata
