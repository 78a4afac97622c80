#include "gui/widgets/sorted_table.h"

#include <QEvent>
#include <QHeaderView>
#include <algorithm>

namespace strata::gui {
namespace {

constexpr int kMeasuredRows = 100;  // whose widths decide on a column's

}  // namespace

SortedTable::SortedTable(QAbstractItemModel& model, int column, QWidget* parent)
    : QTableView(parent) {
  sorted_.setSourceModel(&model);
  sorted_.setSortRole(Qt::UserRole);
  setModel(&sorted_);
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setAlternatingRowColors(true);
  setShowGrid(false);
  setWordWrap(false);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  horizontalHeader()->setResizeContentsPrecision(kMeasuredRows);
  horizontalHeader()->setHighlightSections(false);
  setSortingEnabled(true);
  sortByColumn(column, Qt::DescendingOrder);
  connect(&sorted_, &QAbstractItemModel::modelReset, this, &SortedTable::fit_columns);
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            if (now.isValid()) emit row_picked(sorted_.mapToSource(now).row());
          });
}

std::optional<int> SortedTable::picked() const {
  const QModelIndex now = currentIndex();
  if (!now.isValid()) return std::nullopt;
  return sorted_.mapToSource(now).row();
}

void SortedTable::pick(int row) {
  setCurrentIndex(sorted_.mapFromSource(sorted_.sourceModel()->index(row, 0)));
}

void SortedTable::pick_next() {
  if (sorted_.rowCount() == 0) return;
  const QModelIndex now = currentIndex();
  setCurrentIndex(sorted_.index(now.isValid() ? (now.row() + 1) % sorted_.rowCount() : 0, 0));
}

void SortedTable::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  fit_columns();
}

void SortedTable::changeEvent(QEvent* event) {
  QTableView::changeEvent(event);
  if (event->type() != QEvent::FontChange) return;
  verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  fit_columns();
}

int SortedTable::needed_width(int column) const {
  return std::max(sizeHintForColumn(column), horizontalHeader()->sectionSizeHint(column)) + 6;
}

// What room is left all columns share.
void SortedTable::fit_columns() {
  const int columns = sorted_.columnCount();
  std::vector<int> widths;
  int used = 0, shown = 0;
  for (int column = 0; column < columns; ++column) {
    setColumnHidden(column, false);  // hidden ones have no width that could be asked for
    widths.push_back(needed_width(column));
  }
  while (shown < columns && (shown == 0 || used + widths[shown] <= viewport()->width())) {
    used += widths[static_cast<std::size_t>(shown++)];
  }
  const int more = std::max(viewport()->width() - used, 0);
  for (int column = 0; column < columns; ++column) {
    const int share = more * (column + 1) / std::max(shown, 1) - more * column / std::max(shown, 1);
    setColumnWidth(column, widths[static_cast<std::size_t>(column)] + share);
    setColumnHidden(column, column >= shown);
  }
}

}  // namespace strata::gui
