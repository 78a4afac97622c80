#pragma once

// A table beside a picture. It is sorted by a click on a column's name, one row is picked at a
// time, and nothing scrolls sideways: columns that find no room are left out, the last ones first.
// Rows are told and taken as the model numbers them, however they are sorted.

#include <QSortFilterProxyModel>
#include <QTableView>
#include <optional>

namespace strata::gui {

class SortedTable : public QTableView {
  Q_OBJECT

 public:
  /// By the numbers in Qt::UserRole; at first by `column`, the largest on top. The model must
  /// outlive this.
  SortedTable(QAbstractItemModel& model, int column, QWidget* parent = nullptr);

  std::optional<int> picked() const;
  /// Brings it into view.
  void pick(int row);
  /// The one below; the top one after the last, and where none is picked.
  void pick_next();

 signals:
  /// By whomever.
  void row_picked(int row);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void fit_columns();
  int needed_width(int column) const;

  QSortFilterProxyModel sorted_;
};

}  // namespace strata::gui
