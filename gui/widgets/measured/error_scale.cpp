#include "gui/widgets/measured/error_scale.h"

#include <QPainter>

#include "gui/models/measured/error_recording.h"
#include "gui/widgets/theme.h"

namespace strata::gui {
namespace {

constexpr int kScaleWidth = 160, kScaleHeight = 9;

}  // namespace

ErrorScale::ErrorScale(QWidget* parent) : QWidget(parent) {
  setToolTip(tr("Of a task's duration: predicted less measured, as a part of what was measured"));
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);
}

QSize ErrorScale::sizeHint() const {
  return {kScaleWidth, 2 * fontMetrics().height() + 6};
}

// As the recordings shade it: an error is negative where the task took longer.
void ErrorScale::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme theme = theme_of(palette());
  const int line = fontMetrics().height();
  const QString end = QStringLiteral("%1 %").arg(100 * kLoudestError);
  const int side = fontMetrics().horizontalAdvance(QLatin1Char('+') + end) + 6;
  const QRect lower(0, height() - line - 2, width(), line);
  const QRect bar(side, lower.center().y() - kScaleHeight / 2, width() - 2 * side, kScaleHeight);
  for (int x = 0; x < bar.width(); ++x) {
    painter.fillRect(QRect(bar.left() + x, bar.top(), 1, bar.height()),
                     balance_colour(1 - 2.0 * x / bar.width(), theme));
  }
  painter.setPen(theme.faint);
  painter.drawText(lower, Qt::AlignLeft | Qt::AlignVCenter, QLatin1Char('-') + end);
  painter.drawText(lower, Qt::AlignRight | Qt::AlignVCenter, QLatin1Char('+') + end);
  const QRect upper(0, lower.top() - line - 1, width(), line);
  painter.drawText(upper, Qt::AlignLeft | Qt::AlignVCenter, tr("took longer"));
  painter.drawText(upper, Qt::AlignRight | Qt::AlignVCenter, tr("took less"));
}

}  // namespace strata::gui
