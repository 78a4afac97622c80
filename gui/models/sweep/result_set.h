#pragma once

// What sweeps have found, as columns: each of numbers or of words. Columns that say nothing are
// left out. Immutable; made by a ResultBuilder.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace strata::gui
