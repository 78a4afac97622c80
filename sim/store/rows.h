#pragma once

// A StoredResult as rows, and what processes and scenarios leave beside them, inside the caller's
// transaction; and rows of one file in another.

#include <cstdint>
#include <span>
#include <string>

#include "sim/store/sqlite.h"

namespace strata {

/// The invocation of this process, which is added if it isn't there; its id.
std::int64_t add_invocation(Database& database, const Invocation& invocation);

bool has_row(Database& database, CaseKey key);
/// Whoever's it is: a key with a row needs none.
void drop_claim(Database& database, CaseKey key);
/// With its inputs and layers. The key must have no row.
void add_result(Database& database, const StoredResult& result, std::int64_t invocation);

void replace_scenario(Database& database, const std::string& name, const std::string& file,
                      const std::string& text, std::span<const Store::ScenarioCase> cases);

/// As Store::merge says, in a transaction of its own.
std::size_t merge(Database& database, const std::string& file, const StoreLimits& limits);

}  // namespace strata
