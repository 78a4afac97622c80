#pragma once

// What the printers rely on (document.h). Throws InternalError. Pure; thread-safe.

#include "sim/report/document.h"

namespace strata {

/// Every row is as long as the columns.
void check(const ReportTable& table);
/// x and y of a series have one length, and ideal too where there is one.
void check(const Chart& chart);

}  // namespace strata
