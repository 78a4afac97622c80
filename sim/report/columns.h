#pragma once

// How the columns of a table are set. Pure; thread-safe.

#include <vector>

#include "sim/report/document.h"

namespace strata {

/// By column: whether some cell is a number, and all others are numbers or empty. Such a column is
/// set to the right, its heading too.
std::vector<bool> number_columns(const ReportTable& table);

}  // namespace strata
