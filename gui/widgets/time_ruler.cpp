#include "gui/widgets/time_ruler.h"

#include <algorithm>

#include "gui/models/text.h"

namespace strata::gui {
namespace {

constexpr int kTickGap = 4;  // between a tick and its label

std::vector<TimeTick> ticks_for(const QPainter& painter, const TimeWindow& window, int width) {
  const int label = painter.fontMetrics().horizontalAdvance(QStringLiteral("000.00 ms"));
  return time_ticks(window, std::max(width / (label + 2 * kTickGap), 1));
}

// Right of its tick, where there is room; else a tick speaks for itself. The only one stands left
// of it then.
void paint_tick_labels(QPainter& painter, const QRect& box, const TimeWindow& window) {
  double free_from = box.left();
  for (const TimeTick& tick : ticks_for(painter, window, box.width())) {
    const QString text = QString::fromStdString(tick.label);
    const double width = painter.fontMetrics().horizontalAdvance(text) + 1;
    const double x = box.left() + window.to_x(tick.at, box.width());
    const bool fits = x + kTickGap + width <= box.right();
    const bool first = free_from == box.left();
    const double left = fits ? x + kTickGap : x - kTickGap - width;
    if (left < free_from || (!fits && !first)) continue;
    painter.drawText(QRectF(left, box.top(), width, box.height() - 2),
                     Qt::AlignLeft | Qt::AlignVCenter, text);
    free_from = left + width + kTickGap;
  }
}

void paint_length(QPainter& painter, const QRect& box, const TimeWindow& window,
                  const TimeRange& range, const QPalette& palette) {
  const double left = box.left() + window.to_x(range.begin.value, box.width());
  const double right = box.left() + window.to_x(range.end.value, box.width());
  if (right < box.left() || left > box.right()) return;
  const QString text = human_seconds(range.length());
  const double width = std::min<double>(
      std::max(right - left, painter.fontMetrics().horizontalAdvance(text) + 12.0), box.width());
  const double middle =
      (std::max<double>(left, box.left()) + std::min<double>(right, box.right())) / 2;
  const double at = std::clamp(middle - width / 2, box.left() + 0.0, box.right() + 1 - width);
  const QRectF band(at, box.top() + 1, width, box.height() - 6);
  painter.fillRect(band, palette.color(QPalette::Highlight));
  painter.setPen(palette.color(QPalette::HighlightedText));
  painter.drawText(band, Qt::AlignCenter, text);
}

}  // namespace

void paint_time_ruler(QPainter& painter, const QRect& box, const TimeWindow& window,
                      const RulerMarks& marks, const QPalette& palette) {
  const Theme theme = theme_of(palette);
  painter.save();
  painter.setClipRect(box);
  if (marks.steady) {
    const double left = std::max<double>(
        box.left(), box.left() + window.to_x(marks.steady->begin.value, box.width()));
    const double right = std::min<double>(
        box.right() + 1, box.left() + window.to_x(marks.steady->end.value, box.width()));
    if (left < right) {
      painter.fillRect(QRectF(left, box.bottom() - 3, right - left, 3),
                       see_through(theme.accent, 0.5));
    }
  }
  for (const TimeTick& tick : ticks_for(painter, window, box.width())) {
    const double x = box.left() + window.to_x(tick.at, box.width());
    painter.fillRect(QRectF(x, box.bottom() - 5, 1, 5), theme.faint);
  }
  painter.setPen(theme.faint);
  paint_tick_labels(painter, box, window);
  if (marks.range && marks.range->length() > Seconds{0}) {
    paint_length(painter, box, window, *marks.range, palette);
  }
  painter.restore();
}

void paint_time_grid(QPainter& painter, const QRect& area, const TimeWindow& window,
                     const Theme& theme) {
  for (const TimeTick& tick : ticks_for(painter, window, area.width())) {
    const double x = area.left() + window.to_x(tick.at, area.width());
    painter.fillRect(QRectF(x, area.top(), 1, area.height()), theme.grid);
  }
}

int names_width(int wanted, int whole) {
  constexpr int kLeast = 84;
  constexpr double kMostShare = 0.27;
  return std::clamp(wanted, kLeast, std::max(kLeast, static_cast<int>(whole * kMostShare)));
}

}  // namespace strata::gui
