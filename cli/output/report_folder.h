#pragma once

// A report as files of a folder: report.html, report.md, a CSV for each table, and report.files,
// the list of the CSVs. Sections come and go, so a report takes the place of the one before it.

#include <string>

#include "sim/report/document.h"

namespace strata {

/// Makes the folder where it is not there. Of an earlier report's CSVs, those that this one does
/// not write are removed: files that its list names and whose content is what was written then, and
/// nothing else. Throws EnvironmentError that names what cannot be made, written or removed.
void write_report(const ReportDocument& document, const std::string& folder);

}  // namespace strata
