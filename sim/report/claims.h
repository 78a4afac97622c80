#pragma once

// The words of claims, the same in every form of a report. Pure; thread-safe.

#include <string_view>
#include <vector>

#include "sim/report/document.h"

namespace strata {

std::string_view name(Verdict verdict);
/// Beside the name, so that a verdict is told by more than its colour.
std::string_view symbol(Verdict verdict);
/// For documents that have nothing better than a table.
ReportTable table_of(const std::vector<ReportClaim>& claims);

}  // namespace strata
