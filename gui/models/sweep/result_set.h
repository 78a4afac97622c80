#pragma once

// What sweeps have found, as columns: each of numbers or of words. Columns that say nothing are
// left out. Immutable; made by a ResultBuilder.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/store/store.h"
#include "sim/text/units.h"

namespace strata::gui {

struct ResultColumn {
  std::string name;  ///< "step_seconds", "link.inter.bandwidth"
  bool numeric = false;
  bool setting = false;  ///< what was asked for, not what was found
  Quantity quantity = Quantity::none;
  std::vector<double> values =
      {};  ///< by row: a number, or the place of a word; NaN: nothing there
  std::vector<std::string> words =
      {};                          ///< in the order that people expect: p100-2x4 before p100-16x4
  double low = 0, high = 0;        ///< of the values
  std::vector<double> kinds = {};  ///< its distinct values, ascending; the first thousand seen

  bool has(std::size_t row) const { return values[row] == values[row]; }
  /// For people: "23.1 ms"; empty where there is nothing.
  std::string text(std::size_t row) const { return text_of(values[row]); }
  std::string text_of(double value) const;
  bool varies() const { return kinds.size() > 1; }
  /// Its place among the kinds; of strategies the same whatever else is there, so that each has one
  /// colour in all charts of all files.
  std::size_t kind_of(double value) const;
  /// With all digits, for files.
  std::string exact(std::size_t row) const;
};

/// "link.inter.bandwidth", "peak memory": its values have their units.
inline std::string plain_name(const ResultColumn& column) {
  return strata::plain_name(column.name);
}

class ResultSet {
 public:
  ResultSet(std::vector<ResultColumn> columns, std::vector<std::int64_t> ids);

  std::size_t rows() const { return ids_.size(); }
  const std::vector<ResultColumn>& columns() const { return columns_; }
  const ResultColumn& operator[](std::size_t column) const { return columns_[column]; }
  std::optional<std::size_t> find(std::string_view name) const;
  /// Of the row in the store.
  std::int64_t id(std::size_t row) const { return ids_[row]; }

 private:
  std::vector<ResultColumn> columns_;
  std::vector<std::int64_t> ids_;
};
using ResultSetPtr = std::shared_ptr<const ResultSet>;

/// A number with a unit as settings write them, and what it is a number of.
struct Measure {
  double value = 0;
  Quantity quantity = Quantity::none;
};
std::optional<Measure> measure_of(const std::string& text);

/// Digits count as numbers: "p100-2x4" comes before "p100-16x4".
bool natural_less(std::string_view a, std::string_view b);

// Makes columns of a store's rows as they come. Besides what every row has, each setting is a
// column, its values as numbers where all of them are ("12.5 GB/s", "0.5x"). Belongs to one thread;
// what it has built belongs to nobody.

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
