#pragma once

// Makes JSON of what was measured for a profile, and of what files of rows brought into one. Pure;
// thread-safe.

#include <cstddef>
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sim/kernels/import_tables.h"
#include "sim/measure/measure_profile.h"

namespace strata {

/// `took`: how long measuring took. `file`: where the profile is written; empty where it is not.
nlohmann::ordered_json profile_json(const ProfileRequest& request, const ProfileReport& report,
                                    Seconds took, const std::string& file);

/// Tables that come into a profile of `kind`. `replaced`: by table, how many rows of the profile it
/// stands in for. `file`: as above.
nlohmann::ordered_json imported_tables_json(const std::string& kind,
                                            std::span<const ImportedTable> tables,
                                            std::span<const std::size_t> replaced,
                                            const std::string& file);

}  // namespace strata
