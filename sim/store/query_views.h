#pragma once

// What a query may name besides what the file itself has: views that live as long as the connection
// (docs/store.md says what they hold); and what it could have named, for the error of one that
// names what is not there.

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/store/sqlite.h"

namespace strata {

/// The newest of this name. Throws InputError that lists the names there are.
std::int64_t find_scenario(Database& database, const std::string& name);

/// Makes `cases`, `case_layers` and `progress`, of one scenario or (empty) of the whole file.
/// Nothing of them is computed before a query asks for it.
void make_query_views(Database& database, const std::string& scenario);

/// "; cases has: ordinal, sweep, ..." of each view and table that the statement names where
/// SQLite's words say that a column is missing; "; there are: ..." where a table is; else empty.
std::string what_there_is(Database& database, std::string_view sql, std::string_view words);

}  // namespace strata
