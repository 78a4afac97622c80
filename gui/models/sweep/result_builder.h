#pragma once

// Makes columns of a store's rows as they come. Besides what every row has, each setting is a
// column, its values as numbers where all of them are ("12.5 GB/s", "0.5x"). Belongs to one thread;
// what it has built belongs to nobody.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gui/models/sweep/result_set.h"
#include "sim/store/store.h"

namespace strata::gui {

/// A column that every row of a store has.
struct StoredColumn {
  std::string_view name;
  bool numeric = false;
  bool setting = false;
};
/// In the order in which people look for them: what was asked for, then what was found.
const std::vector<StoredColumn>& stored_columns();

class ResultBuilder {
 public:
  ResultBuilder();

  /// SQL for the rows behind one, in the order in which they came: `most` of them, of the newest
  /// scenario of a name, or of the whole file where it is empty.
  static std::string query(std::int64_t after_id, std::size_t most, const std::string& scenario);
  /// Whether the view `cases` has a column of this name, rather than a setting.
  static bool is_stored(std::string_view column);

  /// An answer to query().
  void append(const QueryResult& rows);
  std::size_t rows() const { return ids_.size(); }
  /// Of the newest row: rows are never changed, and new ones have higher numbers. 0: none.
  std::int64_t last_id() const { return last_id_; }
  ResultSetPtr build() const;

 private:
  /// Words by place in `names`, 0 for nothing.
  struct Words {
    std::vector<std::string> names{std::string()};
    std::map<std::string, std::uint32_t, std::less<>> places{{std::string(), 0}};
    std::vector<std::uint32_t> rows;

    void add(std::size_t row, std::string_view word);
    std::uint32_t place_of(std::string_view word);
  };

  void add_settings(std::size_t row, const std::string& json);
  void add_setting(std::size_t row, std::string_view key, std::string_view value);
  ResultColumn stored_column(std::size_t i) const;
  void add_setting_columns(std::vector<ResultColumn>& columns) const;

  std::vector<std::int64_t> ids_;
  std::int64_t last_id_ = 0;
  std::vector<Words> words_;                  ///< by stored column; empty for numbers
  std::vector<std::vector<double>> numbers_;  ///< by stored column; empty for words
  std::map<std::string, Words, std::less<>> settings_;
};

/// A text of SQL, in its quotes.
std::string sql_quoted(std::string_view text);

}  // namespace strata::gui
