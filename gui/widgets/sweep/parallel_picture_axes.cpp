// The axes of the parallel picture: their names, values and brushes.

#include <algorithm>

#include "gui/widgets/sweep/parallel_picture.h"

namespace strata::gui {
namespace {

constexpr double kBrushWidth = 12;
constexpr double kWordHeight = 16;  // of a brush around a word

}  // namespace

void ParallelPicture::draw_axis(QPainter& painter, std::size_t axis) const {
  const double x = axis_x(axis), line = QFontMetricsF(font()).height();
  const double room = area().width() / static_cast<double>(axes_.size() - 1) - 8;
  painter.setPen(QPen(theme().text, 1.2));
  painter.drawLine(QPointF(x, area().top()), {x, area().bottom()});
  draw_brush(painter, axis);
  const bool brushed = results().filter.brushes.contains(shown(axis).name);
  painter.setPen(brushed ? theme().accent : theme().text);
  draw_label(painter, axis, area().top() - line - 4,
             QString::fromStdString(plain_name(shown(axis))), std::min(room, 150.0));
  painter.setPen(theme().faint);
  draw_labels(painter, axis);
}

// All values where there is room for them, else the lowest and the highest.
void ParallelPicture::draw_labels(QPainter& painter, std::size_t axis) const {
  const ResultColumn& column = shown(axis);
  const double line = QFontMetricsF(font()).height();
  const double room = std::min(area().width() / static_cast<double>(axes_.size() - 1) - 8, 110.0);
  const auto most = static_cast<std::size_t>(area().height() / (1.6 * line));
  std::vector<double> values = column.kinds;
  if (values.size() > std::max<std::size_t>(2, most)) values = {column.low, column.high};
  double free_below = 1e9;
  for (const double value : values) {
    const double y = level_y(level(column, value).value_or(0));
    if (y + line / 2 > free_below) continue;
    free_below = y - line / 2;
    draw_label(painter, axis, y, QString::fromStdString(column.text_of(value)), room);
  }
}

void ParallelPicture::draw_label(QPainter& painter, std::size_t axis, double middle,
                                 const QString& label, double room) const {
  const QFontMetricsF metrics(font());
  const double line = metrics.height(), x = axis_x(axis);
  const QString fitting = metrics.elidedText(label, Qt::ElideMiddle, room);
  const double wide = metrics.horizontalAdvance(fitting) + 2;
  const double left = std::clamp(x - wide / 2, 2.0, std::max(2.0, width() - wide - 2));
  QColor behind = theme().background;
  behind.setAlpha(200);
  painter.fillRect(QRectF(left - 2, middle - line / 2, wide + 4, line), behind);
  painter.drawText(QRectF(left, middle - line / 2, wide, line), Qt::AlignCenter, fitting);
}

void ParallelPicture::draw_brush(QPainter& painter, std::size_t axis) const {
  const ResultColumn& column = shown(axis);
  const auto& brushes = results().filter.brushes;
  const auto brush = brushes.find(column.name);
  if (brush == brushes.end()) return;
  QColor inside = theme().accent;
  inside.setAlpha(110);
  const double x = axis_x(axis) - kBrushWidth / 2;
  const auto height = [&](double value) { return level_y(level(column, value).value_or(0)); };
  if (column.numeric) {
    const double bottom = height(std::max(brush->second.low, column.low));
    const double top = height(std::min(brush->second.high, column.high));
    painter.fillRect(QRectF(x, top - 2, kBrushWidth, bottom - top + 4), inside);
    return;
  }
  const auto& words = brush->second.words;
  for (const double kind : column.kinds) {
    if (std::find(words.begin(), words.end(), column.text_of(kind)) == words.end()) continue;
    painter.fillRect(QRectF(x, height(kind) - kWordHeight / 2, kBrushWidth, kWordHeight), inside);
  }
}

}  // namespace strata::gui
