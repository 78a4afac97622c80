#pragma once

// The rows that table and charts show together: all of them, the filter that they share, those that
// pass, and the one that the user is at. Lives in the window's thread.

#include <QObject>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gui/models/sweep/result_filter.h"
#include "gui/models/sweep/result_set.h"

namespace strata::gui {

class Results : public QObject {
  Q_OBJECT

 public:
  explicit Results(QObject* parent = nullptr);

  /// Never null.
  const ResultSetPtr& all() const { return all_; }
  const ResultFilter& filter() const { return filter_; }
  /// Those that pass, ascending.
  const std::vector<std::uint32_t>& rows() const { return rows_; }
  bool shows(std::size_t row) const { return shown_[row] != 0; }
  /// What all rows have in common: "vgg16, p100-4x4, ring, fp32, batch 512".
  std::string common() const;
  /// Where the user is, in the table and in every chart.
  std::optional<std::uint32_t> current() const { return current_; }

  /// Why there are no rows, where there are none.
  const std::string& why_empty() const { return why_empty_; }
  void set_why_empty(const std::string& why);

  /// The filter stays, and so does the current row, as what it is in the store.
  void set_all(ResultSetPtr all);
  void set_text(const std::string& text);
  /// Nothing: all of the column pass again.
  void set_brush(const std::string& column, std::optional<Brush> brush);
  /// Of several columns, in one step.
  void set_brushes(const std::map<std::string, Brush>& brushes);
  void clear_brushes();
  void set_current(std::optional<std::uint32_t> row);
  /// What a double click on a row asks for.
  void open(std::uint32_t row) { emit wanted(row); }

 signals:
  void changed();  ///< all(), the filter or both
  void current_changed();
  void wanted(std::uint32_t row);

 private:
  void set_filter(ResultFilter filter);
  void apply();

  ResultSetPtr all_ =
      std::make_shared<const ResultSet>(std::vector<ResultColumn>(), std::vector<std::int64_t>());
  std::string why_empty_;
  ResultFilter filter_;
  std::vector<std::uint32_t> rows_;
  std::vector<char> shown_;
  std::optional<std::uint32_t> current_;
};

}  // namespace strata::gui
