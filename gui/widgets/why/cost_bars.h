#pragma once

// A cell of the Why view's table as a bar: compute, transfer in, transfer out and sync, one after
// the other, on the scale of all rows.

#include <QStyledItemDelegate>
#include <vector>

#include "gui/widgets/legend.h"

namespace strata::gui {

class CostBars : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

std::vector<LegendEntry> cost_legend();

}  // namespace strata::gui
