#include "gui/widgets/why/cost_bars.h"

#include <QPainter>
#include <QSortFilterProxyModel>
#include <algorithm>
#include <array>

#include "gui/models/why/choice_table.h"

namespace strata::gui {
namespace {

constexpr std::array<CostPart, kCostParts> kParts = {CostPart::compute, CostPart::transfer_in,
                                                     CostPart::transfer_out, CostPart::sync};

QString part_name(CostPart part) {
  switch (part) {
    case CostPart::compute:
      return CostBars::tr("compute");
    case CostPart::transfer_in:
      return CostBars::tr("transfer in");
    case CostPart::transfer_out:
      return CostBars::tr("transfer out");
    case CostPart::sync:
      return CostBars::tr("sync");
  }
  return {};
}

Seconds part_of(const ChoiceCosts& costs, CostPart part) {
  switch (part) {
    case CostPart::compute:
      return costs.compute;
    case CostPart::transfer_in:
      return costs.transfer_in;
    case CostPart::transfer_out:
      return costs.transfer_out;
    case CostPart::sync:
      return costs.sync;
  }
  return {};
}

}  // namespace

QColor cost_colour(CostPart part, const Theme& theme) {
  const auto transfer = [&](Phase phase) {
    return task_colour({TaskKind::transfer, phase, {}, {}, 0, 0, {}}, theme);
  };
  switch (part) {
    case CostPart::compute:
      return task_colour({TaskKind::compute, Phase::forward, {}, {}, 0, 0, {}}, theme);
    case CostPart::transfer_in:
      return transfer(Phase::forward);
    case CostPart::transfer_out:
      return transfer(Phase::forward).darker(theme.dark ? 135 : 125);
    case CostPart::sync:
      return task_colour({TaskKind::collective, Phase::update, {}, {}, 0, 0, {}}, theme);
  }
  return theme.faint;
}

void CostBars::paint(QPainter* painter, const QStyleOptionViewItem& option,
                     const QModelIndex& index) const {
  QStyledItemDelegate::paint(painter, option, index);
  const auto* sorted = qobject_cast<const QSortFilterProxyModel*>(index.model());
  if (sorted == nullptr) return;
  const auto* table = qobject_cast<const ChoiceTable*>(sorted->sourceModel());
  if (table == nullptr || table->longest().value <= 0) return;
  const ChoiceCosts& costs = table->choice(sorted->mapToSource(index).row());
  const Theme theme = theme_of(option.palette);
  QRectF bar = QRectF(option.rect).adjusted(6, 4, -6, -4);
  const double whole = bar.width(), right = bar.right();
  const double share = 1 / table->longest().value;
  painter->save();
  painter->setClipRect(bar);
  for (const CostPart part : kParts) {
    bar.setWidth(whole * part_of(costs, part).value * share);
    painter->fillRect(bar, cost_colour(part, theme));
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
  for (const CostPart part : kParts) {
    entries.push_back(
        {part_name(part), [part](const Theme& theme) { return cost_colour(part, theme); }});
  }
  return entries;
}

}  // namespace strata::gui
