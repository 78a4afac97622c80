#pragma once

// The tables and views of the file, version 2 (docs/store.md), and how a file of version 1 becomes
// one of a newer: it gets the columns that it lacks.

#include <cstdint>
#include <string>

#include "sim/store/sqlite.h"

namespace strata {

/// "STRA": by it a file is known as Strata's.
inline constexpr std::int64_t kApplicationId = 0x53545241;

/// "job, model, ...": the columns that a result fills, in their order.
std::string answer_columns();

/// Makes everything in a database that is empty, inside the caller's transaction.
void make_schema(Database& database);

std::int64_t schema_version(Database& database);
/// Throws InputError for a version that is newer than ours, or was never one; it names both.
void check_version(Database& database);

/// From an older version to ours, inside the caller's transaction.
void migrate(Database& database);

}  // namespace strata
