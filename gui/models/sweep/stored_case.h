#pragma once

// A row of a store as what lies on the desk: what a click on it opens.

#include <cstdint>
#include <string>

#include "gui/document/document.h"

namespace strata::gui {

/// The case of a row, its files as seen from here, a strategy that was searched for as it was found
/// where the row keeps its layers. Throws InputError where the row is not there, or is of a run,
/// whose devices are no cluster. Reads the file: for a job. Thread-safe.
Document document_of_row(const std::string& database, std::int64_t id);

}  // namespace strata::gui
