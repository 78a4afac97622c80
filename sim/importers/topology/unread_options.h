#pragma once

// Which options of an import say something to which format. Pure; thread-safe.

#include <string>

#include "sim/importers/topology/import.h"

namespace strata {

/// Throws InputError "FILE: ..." for an option that is given and that the format does not read.
void refuse_unread_options(const std::string& file, TopologyFormat format,
                           const ImportOptions& options);

}  // namespace strata
