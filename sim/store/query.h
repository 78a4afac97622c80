#pragma once

// Statements of the user, which read and do nothing else.

#include <string>
#include <vector>

#include "sim/store/sqlite.h"

namespace strata {

/// As Store says of each.
QueryResult query(Database& database, const std::string& sql, const std::string& scenario);

/// Whether a Store could answer a statement, by itself: what of it no rows are needed to know.
/// Not thread-safe.
class QueryCheck {
 public:
  QueryCheck();
  /// The names of the statement's columns. Throws InputError as query() does, about "query" for
  /// want of a file.
  std::vector<std::string> columns(const std::string& sql);

 private:
  Database empty_;
};

std::vector<std::string> scenarios(Database& database);
std::string scenario_text(Database& database, const std::string& name);

}  // namespace strata
