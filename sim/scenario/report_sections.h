#pragma once

// One [[report]] of a scenario file. Each kind of section has keys of its own; others are errors.

#include "sim/scenario/scenario.h"
#include "sim/text/diagnostics.h"
#include "sim/text/value.h"

namespace strata {

/// A section without a `kind` is of claims where it has some, a table where it has a query, and
/// else text. What is wrong goes to `errors`.
ReportSection read_report_section(Table table, Diagnostics& errors);

}  // namespace strata
