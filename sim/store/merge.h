#pragma once

// Rows of one file into another.

#include <string>

#include "sim/store/sqlite.h"

namespace strata {

/// As Store::merge says, in a transaction of its own.
std::size_t merge(Database& database, const std::string& file, const StoreLimits& limits);

}  // namespace strata
