#include "gui/widgets/why/cost_bars.h"

#include <QPainter>
#include <algorithm>
#include <array>

#include "gui/models/why/explained.h"

namespace strata::gui {
namespace {

struct CostPart {
  const char* name;
  Seconds ChoiceCosts::*seconds;
  WorkKind work;
  int darker = 100;  ///< per cent

  QColor colour(const Theme& theme) const {
    return work_colour(work, theme).darker(theme.dark && darker > 100 ? darker + 10 : darker);
  }
};

constexpr std::array<CostPart, 4> kParts = {{
    {QT_TR_NOOP("compute"), &ChoiceCosts::compute, WorkKind::forward},
    {QT_TR_NOOP("transfer in"), &ChoiceCosts::transfer_in, WorkKind::transfer},
    {QT_TR_NOOP("transfer out"), &ChoiceCosts::transfer_out, WorkKind::transfer, 125},
    {QT_TR_NOOP("sync"), &ChoiceCosts::sync, WorkKind::sync},
}};

}  // namespace

void CostBars::paint(QPainter* painter, const QStyleOptionViewItem& option,
                     const QModelIndex& index) const {
  QStyledItemDelegate::paint(painter, option, index);
  const auto* table = qobject_cast<const ChoiceTable*>(index.model());
  if (table == nullptr || table->longest().value <= 0) return;
  const ChoiceCosts& costs = table->choice(index.row());
  const Theme theme = theme_of(option.palette);
  QRectF bar = QRectF(option.rect).adjusted(6, 4, -6, -4);
  const double whole = bar.width(), right = bar.right();
  const double share = 1 / table->longest().value;
  painter->save();
  painter->setClipRect(bar);
  for (const CostPart& part : kParts) {
    bar.setWidth(whole * (costs.*part.seconds).value * share);
    painter->fillRect(bar, part.colour(theme));
    bar.moveLeft(bar.right());
  }
  painter->restore();
  // It goes on beyond the cell.
  if (costs.total() <= table->longest()) return;
  painter->setPen(QPen(theme.background, 2));
  for (const double x : {right - 12, right - 8}) {
    painter->drawLine(QLineF(x, option.rect.top() + 2, x - 4, option.rect.bottom() - 2));
  }
}

QSize CostBars::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  return {320, QStyledItemDelegate::sizeHint(option, index).height()};
}

std::vector<LegendEntry> cost_legend() {
  std::vector<LegendEntry> entries;
  entries.reserve(kParts.size());
  for (const CostPart& part : kParts) {
    entries.push_back(
        {CostBars::tr(part.name), [part](const Theme& theme) { return part.colour(theme); }});
  }
  return entries;
}

}  // namespace strata::gui
