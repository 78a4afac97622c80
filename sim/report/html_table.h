#pragma once

// Tables and claims as HTML. Pure; thread-safe.

#include <string>
#include <vector>

#include "sim/report/document.h"

namespace strata {

/// Empty for a table without columns. Throws InternalError (check.h).
std::string html_table(const ReportTable& table);
std::string html_claims(const std::vector<ReportClaim>& claims);

}  // namespace strata
