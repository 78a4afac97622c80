#pragma once

// What a user's statement could have named, for the error of one that names what is not there.

#include <string>
#include <string_view>

#include "sim/store/sqlite.h"

namespace strata {

/// "; cases has: ordinal, sweep, ..." of each view and table that the statement names where
/// SQLite's words say that a column is missing; "; there are: ..." where a table is; else empty.
std::string what_there_is(Database& database, std::string_view sql, std::string_view words);

}  // namespace strata
