// How a waterfall is painted: a line for each bar, and what there is to say beneath.

#include <QPainter>
#include <algorithm>

#include "gui/models/compare/difference_table.h"
#include "gui/models/text.h"
#include "gui/widgets/compare/waterfall_plot.h"
#include "gui/widgets/theme.h"

namespace strata::gui {

void WaterfallPlot::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Theme theme = theme_of(palette());
  painter.fillRect(rect(), theme.background);
  if (bars_.empty()) return;
  const Scale range = scale();
  for (std::size_t i = 0; i < bars_.size(); ++i) paint_bar(painter, i, range);
  paint_texts(painter, range);
  painter.setPen(hasFocus() ? theme.accent : theme.grid);
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

// Where the axis begins stands in the last line; all that there is to say only where there is room.
void WaterfallPlot::paint_texts(QPainter& painter, const Scale& scale) const {
  const Theme theme = theme_of(palette());
  const QFontMetrics metrics = painter.fontMetrics();
  const auto write = [&](double y, const QColor& colour, const QString& text) {
    const QRectF line(kEdge, y, width() - 2 * kEdge, line_height());
    painter.setPen(colour);
    painter.drawText(line, Qt::AlignVCenter,
                     metrics.elidedText(text, Qt::ElideRight, static_cast<int>(line.width())));
  };
  write(kEdge / 2, theme.text, title_);
  const QString axis =
      scale.low > 0 ? tr("The axis begins at %1.").arg(human_seconds({scale.low})) : QString();
  const double y = top() + static_cast<double>(bars_.size()) * line_height() + 2;
  const QRectF room(kEdge, y + 4, width() - 2 * kEdge, height() - y - 8);
  const QString all = caption_ + QLatin1Char(' ') + axis;
  const QRectF wanted = metrics.boundingRect(room.toRect(), Qt::TextWordWrap, all);
  if (wanted.height() > room.height()) return write(y, theme.faint, axis);
  painter.setPen(theme.faint);
  painter.drawText(room, Qt::TextWordWrap, all);
}

void WaterfallPlot::paint_bar(QPainter& painter, std::size_t i, const Scale& scale) const {
  const Theme theme = theme_of(palette());
  const WaterfallBar& bar = bars_[i];
  const double high = line_height(), top = this->top() + static_cast<double>(i) * high;
  const double names = names_width();
  const double number = fontMetrics().horizontalAdvance(QStringLiteral("+000.0 ms")) + kEdge;
  const QRectF area(names, top, width() - names - number - kEdge, high);
  const auto x_of = [&](double value) {
    return area.left() + std::max(0.0, value - scale.low) / (scale.high - scale.low) * area.width();
  };
  if (chosen(bar)) {
    painter.fillRect(QRectF(0, top, width(), high), see_through(theme.accent, 0.18));
  }
  const double from = x_of(bar.total ? scale.low : bar.from.value), to = x_of(bar.to.value);
  const QRectF box(std::min(from, to), top + high * 0.15, std::max(1.5, std::abs(to - from)),
                   high * 0.7);
  painter.fillRect(box, bar.total ? theme.accent : bar.change().value > 0 ? theme.bad : theme.good);
  if (i + 1 < bars_.size()) {
    painter.setPen(theme.faint);
    painter.drawLine(QPointF(to, box.bottom()), QPointF(to, top + high * 1.15));
  }
  painter.setPen(bar.total ? theme.text : theme.faint);
  if (chosen(bar)) painter.setPen(theme.text);
  painter.drawText(
      QRectF(kEdge, top, names - 2 * kEdge, high), Qt::AlignVCenter | Qt::AlignRight,
      painter.fontMetrics().elidedText(QString::fromStdString(bar.what), Qt::ElideMiddle,
                                       static_cast<int>(names - 2 * kEdge)));
  painter.setPen(theme.text);
  painter.drawText(QRectF(width() - number - kEdge, top, number, high),
                   Qt::AlignVCenter | Qt::AlignRight,
                   bar.total ? human_seconds(bar.to) : signed_seconds(bar.change()));
}

}  // namespace strata::gui
