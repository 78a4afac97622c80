#include "gui/widgets/measured/step_heading.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/models/measured/error_recording.h"
#include "gui/models/text.h"
#include "gui/widgets/theme.h"

namespace strata::gui {
namespace {

constexpr double kWorthAWarning = 0.15;  // an error from which a prediction misleads
constexpr int kNumbersApart = 18;

constexpr int kScaleWidth = 160, kScaleHeight = 9;

}  // namespace

StepHeading::StepHeading(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
}

void StepHeading::show_outcome(const std::optional<RealOutcome>& outcome) {
  numbers_.clear();
  if (outcome) {
    const double error = relative_error(outcome->predicted, outcome->step);
    numbers_ = {{tr("predicted"), human_seconds(outcome->predicted), {}},
                {tr("measured"), human_seconds(outcome->step),
                 tr("± %1").arg(human_seconds(outcome->spread))},
                {tr("error"),
                 (error > 0 ? QStringLiteral("+") : QString()) + human_share(error),
                 {},
                 std::abs(error) > kWorthAWarning}};
    setToolTip(tr("A step: the median of %1 steps, and half the distance between their quartiles. "
                  "The error is (predicted - measured) / measured.")
                   .arg(outcome->steps));
  }
  update();
}

QString StepHeading::text() const {
  QStringList parts;
  for (const Number& number : numbers_) {
    parts << QStringLiteral("%1 %2 %3").arg(number.name, number.value, number.more).trimmed();
  }
  return parts.join(QStringLiteral(", "));
}

QFont StepHeading::value_font() const {
  QFont large = font();
  large.setPointSizeF(large.pointSizeF() * 1.3);
  large.setBold(true);
  return large;
}

QSize StepHeading::sizeHint() const {
  return {360, fontMetrics().height() + QFontMetrics(value_font()).height() + 6};
}

// Its name above, what is added behind; gives where the next begins.
int StepHeading::paint_number(QPainter& painter, const Number& number, int left) const {
  const Theme theme = theme_of(palette());
  const QFont large = value_font();
  const QFontMetrics metrics(large);
  const int base = height() - 4 - metrics.descent();
  painter.setFont(font());
  painter.setPen(theme.faint);
  painter.drawText(left, base - metrics.ascent() - fontMetrics().descent(), number.name);
  painter.setFont(large);
  painter.setPen(number.loud ? theme.bad : theme.text);
  painter.drawText(left, base, number.value);
  int right = left + metrics.horizontalAdvance(number.value);
  const int more = number.more.isEmpty() ? 0 : fontMetrics().horizontalAdvance(number.more) + 6;
  if (more > 0) {
    painter.setFont(font());
    painter.setPen(theme.faint);
    painter.drawText(right + 6, base, number.more);
    right += more;
  }
  return std::max(right, left + fontMetrics().horizontalAdvance(number.name)) + kNumbersApart;
}

void StepHeading::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  int left = 0;
  for (const Number& number : numbers_) left = paint_number(painter, number, left);
}

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
