#pragma once

// A table as text, to hold results against a record of them: a line for the columns, a line a row,
// cells between tabs. The first `keys` columns name the row; no two rows have the same names.
// Values and pure functions; thread-safe.

#include <string>
#include <string_view>
#include <vector>

namespace strata::testing {

struct Table {
  std::size_t keys = 0;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as wide as `columns`
};

std::string print(const Table& table);

/// `empty`: the table that is expected, without rows. Throws InputError for other columns, for a
/// row of another width, and for one that is there twice.
Table parse_table(std::string_view text, const Table& empty);

/// A line for each cell of `now` that is not as recorded, and for each row that one of the tables
/// lacks; empty where they are the same. At most `most` lines, and then how many more there are.
std::string differences(const Table& recorded, const Table& now, std::size_t most = 20);

/// The same for the rows' names alone.
std::string different_names(const Table& recorded, const Table& now);

/// The rows of `table` that `other` names.
Table rows_named_by(const Table& table, const Table& other);

}  // namespace strata::testing
