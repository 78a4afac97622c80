#pragma once

// What a query may ask for besides what the file itself has: views that live as long as the
// connection. docs/store.md says what they hold.

#include <cstdint>
#include <string>

#include "sim/store/sqlite.h"

namespace strata {

/// The newest of this name. Throws InputError that lists the names there are.
std::int64_t find_scenario(Database& database, const std::string& name);

/// Makes `cases`, `case_layers` and `progress`, of one scenario or (empty) of the whole file.
/// Nothing of them is computed before a query asks for it.
void make_query_views(Database& database, const std::string& scenario);

}  // namespace strata
