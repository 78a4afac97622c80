#include "gui/widgets/fitted_table.h"

#include <QEvent>
#include <QHeaderView>
#include <QHelpEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QToolTip>
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "gui/models/short_name.h"

namespace strata::gui {
namespace {

constexpr int kMostSpread = 48;     // pixels
constexpr int kMeasuredRows = 100;  // whose widths decide on a column's

// A text of which neighbours share the beginning; its tip has all of it.
class NameCell : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    QStyleOptionViewItem cell = option;
    initStyleOption(&cell, index);
    cell.text = elided_name(cell.text, shared(index), room(cell), QFontMetricsF(cell.font));
    option.widget->style()->drawControl(QStyle::CE_ItemViewItem, &cell, painter, option.widget);
  }

  bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                 const QModelIndex& index) override {
    const QString text = index.data().toString();
    const bool asked = event->type() == QEvent::ToolTip && index.data(Qt::ToolTipRole).isNull();
    if (!asked || QFontMetricsF(option.font).horizontalAdvance(text) <= room(option)) {
      return QStyledItemDelegate::helpEvent(event, view, option, index);
    }
    QToolTip::showText(event->globalPos(), text, view);
    return true;
  }

 private:
  static double room(const QStyleOptionViewItem& cell) {
    const QStyle& style = *cell.widget->style();
    return cell.rect.width() -
           2 * (style.pixelMetric(QStyle::PM_FocusFrameHMargin, &cell, cell.widget) + 1);
  }
  static std::size_t shared(const QModelIndex& index) {
    std::size_t most = 0;
    const std::string text = index.data().toString().toStdString();
    for (const int row : {index.row() - 1, index.row() + 1}) {
      const std::string beside = index.siblingAtRow(row).data().toString().toStdString();
      most = std::max(most, shared_prefix(text, beside));
    }
    return most;
  }
};

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
  setSortingEnabled(true);
  verticalHeader()->hide();
  fit_rows();
  horizontalHeader()->setResizeContentsPrecision(kMeasuredRows);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setMinimumSectionSize(24);
  auto* names = new NameCell(this);
  for (const int column : elastic_) setItemDelegateForColumn(column, names);
  connect(model, &QAbstractItemModel::modelReset, this, &FittedTable::sort_rows);
  connect(model, &QAbstractItemModel::modelReset, this, &FittedTable::fit_columns);
  connect(model, &QAbstractItemModel::dataChanged, this, &FittedTable::sort_rows);
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            if (now.isValid()) emit row_picked(now.row());
          });
  connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this](int, int before, int now) {
    if (!fitting_ && before > 0 && now > 0) touched_ = true;
  });
}

void FittedTable::fit_rows() {
  verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 5);
}

void FittedTable::sort_rows() {
  const QHeaderView& header = *horizontalHeader();
  model()->sort(header.sortIndicatorSection(), header.sortIndicatorOrder());
}

// The header's sort indicator takes as much as a letter.
int FittedTable::least_width(int column) const {
  return horizontalHeader()->sectionSizeHint(column);
}

void FittedTable::give_way(std::vector<int>& widths, int room) const {
  std::vector<int> less = widths;
  int over = std::accumulate(widths.begin(), widths.end(), 0) - room;
  for (const int column : elastic_) {
    int& width = less[static_cast<std::size_t>(column)];
    const int gives = std::min(over, width - std::min(width, least_width(column)));
    width -= std::max(gives, 0);
    over -= std::max(gives, 0);
  }
  if (over <= 0) widths = less;
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

void FittedTable::changeEvent(QEvent* event) {
  QTableView::changeEvent(event);
  if (event->type() != QEvent::FontChange) return;
  fit_rows();
  fit_columns();
}

std::vector<std::size_t> FittedTable::picked_rows() const {
  std::vector<std::size_t> rows;
  for (const QModelIndex& row : selectionModel()->selectedRows()) {
    rows.push_back(static_cast<std::size_t>(row.row()));
  }
  return rows;
}

std::optional<int> FittedTable::picked() const {
  const QModelIndex now = currentIndex();
  return now.isValid() ? std::optional(now.row()) : std::nullopt;
}

void FittedTable::pick(int row) {
  setCurrentIndex(model()->index(row, 0));
}

void FittedTable::pick_next() {
  const int rows = model()->rowCount();
  if (rows > 0) pick((picked().value_or(-1) + 1) % rows);
}

}  // namespace strata::gui
