#pragma once

// A table of rows that are picked whole, sorted by a click on a column's name, whose columns fit
// their contents. Where they are too wide for the window, those that bear it (names, cuts) give
// way, down to the width of their headers; where that is not enough, the table scrolls and they
// stay whole. What a name has in common with the rows beside it gives way first (short_name.h).
// Widths that the user made stay. The model sorts itself, and keeps to it: new rows, and what
// changes in them, stand as the old ones did.

#include <QTableView>
#include <optional>
#include <vector>

namespace strata::gui {

class FittedTable : public QTableView {
  Q_OBJECT

 public:
  /// `elastic`: columns that give way.
  FittedTable(QAbstractItemModel* model, std::vector<int> elastic, QWidget* parent = nullptr);

  /// From the rows that are picked, by their number in the model.
  std::vector<std::size_t> picked_rows() const;
  /// The row at hand: where the keyboard is.
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
  void sort_rows();
  void fit_rows();
  void fit_columns();
  int least_width(int column) const;
  void give_way(std::vector<int>& widths, int room) const;
  static void spread(std::vector<int>& widths, int room);

  std::vector<int> elastic_;
  bool fitting_ = false, touched_ = false;
};

}  // namespace strata::gui
