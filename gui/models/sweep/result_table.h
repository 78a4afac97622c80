#pragma once

// The rows of Results that pass, as a table that sorts itself. Numbers are sorted as numbers, words
// as people expect, and what is not there stands last. Lives in the window's thread.

#include <QAbstractTableModel>
#include <cstdint>
#include <optional>
#include <vector>

#include "gui/models/sweep/result_set.h"
#include "gui/models/sweep/results.h"

namespace strata::gui {

class ResultTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  explicit ResultTable(Results& results, QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override;
  /// A column below 0: in the order of the store.
  void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

  /// The row of Results at a place of the table.
  std::uint32_t row_at(int place) const { return order_.at(static_cast<std::size_t>(place)); }
  /// Where it stands, if it passes.
  std::optional<int> place_of(std::uint32_t row) const;
  /// All that is shown, in its order.
  const ResultSetPtr& shown() const { return shown_; }
  const std::vector<std::uint32_t>& rows() const { return order_; }
  QString csv() const;

 private:
  void take_over();
  void arrange();

  Results& results_;
  ResultSetPtr shown_;  ///< what the columns are of
  std::vector<std::uint32_t> order_;
  QString sorted_by_;  ///< by name: columns come with the rows
  Qt::SortOrder direction_ = Qt::AscendingOrder;
};

/// Numbers with all digits. Thread-safe.
QString print_csv(const ResultSet& results, const std::vector<std::uint32_t>& rows);

// What a chart shows before anybody chose. Pure; thread-safe.

/// Whether its values only tell repetitions of one case apart: seeds, and what costs scatter by.
bool repeats(const ResultColumn& column);

/// x: what was varied; y: a time; series: what is compared, the strategies where they differ.
struct ChartColumns {
  std::size_t x = 0, y = 0;
  std::optional<std::size_t> series;
};
std::optional<ChartColumns> usual_columns(const ResultSet& results);

/// The columns that differ: settings and what matters of the answers, repetitions last. At most so
/// many: those go first that say least.
std::vector<std::size_t> usual_axes(const ResultSet& results, std::size_t most = 12);

}  // namespace strata::gui
