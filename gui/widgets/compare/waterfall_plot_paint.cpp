// How a waterfall is painted: a line for each bar, and what there is to say beneath.

#include <QPainter>
#include <QPolygonF>
#include <algorithm>

#include "gui/models/compare/difference_table.h"
#include "gui/models/short_name.h"
#include "gui/models/text.h"
#include "gui/widgets/compare/waterfall_plot.h"
#include "gui/widgets/theme.h"

namespace strata::gui {

void WaterfallPlot::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Theme theme = theme_of(palette());
  painter.fillRect(rect(), theme.background);
  if (bars_.empty()) return;
  const WaterfallAxis axis = axis_of(bars_);
  for (std::size_t i = 0; i < bars_.size(); ++i) paint_bar(painter, i, axis);
  paint_texts(painter, axis);
  painter.setPen(hasFocus() ? theme.accent : theme.grid);
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

// What a broken axis leaves out stands in the last line; all that there is to say only where there
// is room.
void WaterfallPlot::paint_texts(QPainter& painter, const WaterfallAxis& axis) const {
  const Theme theme = theme_of(palette());
  const QFontMetrics metrics = painter.fontMetrics();
  const auto write = [&](double y, const QColor& colour, const QString& text) {
    const QRectF line(kEdge, y, width() - 2 * kEdge, line_height());
    painter.setPen(colour);
    painter.drawText(line, Qt::AlignVCenter,
                     metrics.elidedText(text, Qt::ElideRight, static_cast<int>(line.width())));
  };
  write(kEdge / 2, theme.text, title_);
  const QString broken =
      axis.broken()
          ? tr("The axis is broken: the first %1 are left out.").arg(human_seconds(axis.left_out))
          : QString();
  const double y = top() + static_cast<double>(bars_.size()) * line_height() + 2;
  const QRectF room(kEdge, y + 4, width() - 2 * kEdge, height() - y - 8);
  const QString all = broken.isEmpty() ? caption_ : broken + QLatin1Char(' ') + caption_;
  const QRectF wanted = metrics.boundingRect(room.toRect(), Qt::TextWordWrap, all);
  if (wanted.height() > room.height()) return write(y, theme.faint, broken);
  painter.setPen(theme.faint);
  painter.drawText(room, Qt::TextWordWrap, all);
}

void WaterfallPlot::paint_bar(QPainter& painter, std::size_t i, const WaterfallAxis& axis) const {
  const Theme theme = theme_of(palette());
  const WaterfallBar& bar = bars_[i];
  const double high = line_height(), top = this->top() + static_cast<double>(i) * high;
  const double names = names_width();
  const double number = numbers_width();
  const QRectF area(names, top, width() - names - number - kEdge, high);
  const auto x_of = [&](Seconds at) { return area.left() + axis.place(at) * area.width(); };
  if (chosen(bar)) {
    painter.fillRect(QRectF(0, top, width(), high), see_through(theme.accent, 0.18));
  }
  const double from = x_of(bar.from), to = x_of(bar.to);
  const QRectF box(std::min(from, to), top + high * 0.15, std::max(1.5, std::abs(to - from)),
                   high * 0.7);
  painter.fillRect(box, bar.total ? theme.accent : bar.change().value > 0 ? theme.bad : theme.good);
  if (bar.total && axis.broken()) {
    paint_break(painter, box, area.left() + WaterfallAxis::kBreak * area.width());
  }
  if (i + 1 < bars_.size()) {
    painter.setPen(theme.faint);
    painter.drawLine(QPointF(to, box.bottom()), QPointF(to, top + high * 1.15));
  }
  painter.setPen(bar.total ? theme.text : theme.faint);
  if (chosen(bar)) painter.setPen(theme.text);
  painter.drawText(QRectF(kEdge, top, names - 2 * kEdge, high), Qt::AlignVCenter | Qt::AlignRight,
                   elided_name(QString::fromStdString(bar.what), shared_[i], names - 2 * kEdge,
                               QFontMetricsF(painter.font())));
  painter.setPen(theme.text);
  painter.drawText(QRectF(width() - number - kEdge, top, number, high),
                   Qt::AlignVCenter | Qt::AlignRight, this->number(i));
}

// A torn bar: what lies before `x` is drawn to another scale than what lies behind it.
void WaterfallPlot::paint_break(QPainter& painter, const QRectF& bar, double x) const {
  constexpr double kTooth = 3, kGap = 4;  // pixels
  constexpr int kTeeth = 4;
  QPolygonF left, right;
  for (int i = 0; i <= kTeeth; ++i) {
    const double y = bar.top() - 2 + (bar.height() + 4) * i / kTeeth;
    const double tooth = i % 2 == 0 ? kTooth : -kTooth;
    left << QPointF(x - kGap + tooth, y);
    right.prepend(QPointF(x + tooth, y));
  }
  const Theme theme = theme_of(palette());
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.background);
  painter.drawPolygon(left + right);
  painter.setPen(theme.text);
  painter.drawPolyline(left);
  painter.drawPolyline(right);
  painter.restore();
}

}  // namespace strata::gui
