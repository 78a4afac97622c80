#include "gui/widgets/elided_label.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

namespace strata::gui {

void ElidedLabel::set_lines(int lines) {
  most_lines_ = lines;
  setFixedHeight(lines * fontMetrics().lineSpacing());
  setAlignment(Qt::AlignLeft | (lines > 1 ? Qt::AlignTop : Qt::AlignVCenter));
}

// As many facts in each as have room, and what is left in the last.
QStringList ElidedLabel::lines() const {
  QStringList lines;
  for (const QString& fact : text().split(between())) {
    const QString longer = lines.isEmpty() ? fact : lines.last() + between() + fact;
    const bool fits = fontMetrics().horizontalAdvance(longer) <= width();
    if (lines.isEmpty() || (!fits && lines.size() < most_lines_)) {
      lines << fact;
    } else {
      lines.last() = longer;
    }
  }
  return lines;
}

void ElidedLabel::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setPen(palette().color(foregroundRole()));
  QStringList shown;
  for (const QString& line : lines()) shown << fontMetrics().elidedText(line, elided_, width());
  painter.drawText(rect(), static_cast<int>(alignment()), shown.join(QLatin1Char('\n')));
}

bool ElidedLabel::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QLabel::event(event);
  const QStringList shown = lines();
  const bool cut = std::any_of(shown.begin(), shown.end(), [this](const QString& line) {
    return fontMetrics().horizontalAdvance(line) > width();
  });
  if (cut) QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), text(), this);
  return true;
}

}  // namespace strata::gui
