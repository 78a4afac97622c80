#pragma once

// Makes JSON of what a store answers to a query. Pure; thread-safe.

#include <nlohmann/json_fwd.hpp>

#include "sim/store/store.h"

namespace strata {

/// Rows are objects with the columns' names as keys. Throws InputError where two columns have one
/// name.
nlohmann::ordered_json query_json(const QueryResult& result);

}  // namespace strata
