#include "gui/widgets/fitted_table.h"

#include <QHeaderView>
#include <algorithm>
#include <numeric>
#include <utility>

namespace strata::gui {
namespace {

constexpr int kMostSpread = 48;  // pixels

}  // namespace

FittedTable::FittedTable(QAbstractItemModel* model, std::vector<int> elastic, QWidget* parent)
    : QTableView(parent), elastic_(std::move(elastic)) {
  setModel(model);
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setAlternatingRowColors(true);
  setShowGrid(false);
  setWordWrap(false);
  setTextElideMode(Qt::ElideMiddle);
  setTabKeyNavigation(false);
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 5);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setMinimumSectionSize(24);
  connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this](int, int before, int now) {
    if (!fitting_ && before > 0 && now > 0) touched_ = true;
  });
}

// The header's sort indicator takes as much as a letter.
int FittedTable::least_width(int column) const {
  return horizontalHeader()->sectionSizeHint(column);
}

void FittedTable::give_way(std::vector<int>& widths, int room) const {
  for (const int column : elastic_) {
    const int over = std::accumulate(widths.begin(), widths.end(), 0) - room;
    if (over <= 0) return;
    int& width = widths[static_cast<std::size_t>(column)];
    width = std::max(width - over, std::min(width, least_width(column)));
  }
}

// What is left over, up to a point: numbers far apart are hard to read across.
void FittedTable::spread(std::vector<int>& widths, int room) {
  const auto shown =
      std::count_if(widths.begin(), widths.end(), [](int width) { return width > 0; });
  const int over = room - std::accumulate(widths.begin(), widths.end(), 0);
  if (over <= 0 || shown == 0) return;
  for (int& width : widths) {
    if (width > 0) width += std::min(over / static_cast<int>(shown), kMostSpread);
  }
}

void FittedTable::fit_columns() {
  if (touched_ || model() == nullptr) return;
  fitting_ = true;
  std::vector<int> widths(static_cast<std::size_t>(model()->columnCount()));
  for (int column = 0; column < model()->columnCount(); ++column) {
    if (isColumnHidden(column)) continue;
    widths[static_cast<std::size_t>(column)] =
        std::max(sizeHintForColumn(column) + 1, least_width(column));
  }
  give_way(widths, viewport()->width());
  spread(widths, viewport()->width());
  for (int column = 0; column < model()->columnCount(); ++column) {
    const int width = widths[static_cast<std::size_t>(column)];
    if (width > 0) setColumnWidth(column, width);
  }
  fitting_ = false;
}

void FittedTable::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  fit_columns();
}

std::vector<std::size_t> FittedTable::picked_rows() const {
  std::vector<std::size_t> rows;
  for (const QModelIndex& row : selectionModel()->selectedRows()) {
    rows.push_back(static_cast<std::size_t>(row.row()));
  }
  return rows;
}

}  // namespace strata::gui
