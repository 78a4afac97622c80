#pragma once

// A table of rows that are picked whole, whose columns fit their contents. Where they are too wide
// for the window, those that bear it (names, cuts) give way, down to the width of their headers.
// Widths that the user made stay.

#include <QTableView>
#include <vector>

namespace strata::gui {

class FittedTable : public QTableView {
  Q_OBJECT

 public:
  /// `elastic`: columns that give way.
  FittedTable(QAbstractItemModel* model, std::vector<int> elastic, QWidget* parent = nullptr);

  /// After the rows are others.
  void fit_columns();
  /// From the rows that are picked, by their number in the model.
  std::vector<std::size_t> picked_rows() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  int least_width(int column) const;
  void give_way(std::vector<int>& widths, int room) const;
  static void spread(std::vector<int>& widths, int room);

  std::vector<int> elastic_;
  bool fitting_ = false, touched_ = false;
};

}  // namespace strata::gui
