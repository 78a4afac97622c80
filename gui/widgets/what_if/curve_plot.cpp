#include "gui/widgets/what_if/curve_plot.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/models/text.h"
#include "gui/widgets/theme.h"

namespace strata::gui {
namespace {

constexpr double kAir = 1.08;  // above the largest

// Round factors, and the powers of two of a size.
std::vector<double> ticks_of(const Knob& knob) {
  std::vector<double> ticks;
  for (const double stop : knob.stops) {
    if (std::exp2(std::round(std::log2(stop))) == stop) ticks.push_back(stop);
  }
  if (knob.counts()) return ticks;
  for (const double tick : {0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0}) {
    if (tick >= knob.least && tick <= knob.most) ticks.push_back(tick);
  }
  return ticks;
}

}  // namespace

CurvePlot::CurvePlot(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize CurvePlot::sizeHint() const {
  return {300, 5 * fontMetrics().height()};
}

// From 0, so that a flat curve looks flat.
void CurvePlot::show_points(const Knob& knob, std::vector<CurvePoint> points) {
  knob_ = knob;
  points_ = std::move(points);
  high_ = 0;
  for (const CurvePoint& point : points_) high_ = std::max(high_, point.step.value);
  high_ = high_ > 0 ? high_ * kAir : 1;
  update();
}

void CurvePlot::mark(double value, std::optional<Seconds> step, std::optional<Seconds> baseline) {
  value_ = value;
  step_ = step;
  baseline_ = baseline;
  update();
}

void CurvePlot::set_margins(int margin) {
  margin_ = margin;
  update();
}

QRectF CurvePlot::area() const {
  return QRectF(rect()).adjusted(margin_, 4, -margin_, -2 - fontMetrics().height());
}

QPointF CurvePlot::at(const CurvePoint& point) const {
  const QRectF box = area();
  return {box.left() + position_of(knob_, point.value) * box.width(),
          box.bottom() - point.step.value / high_ * box.height()};
}

void CurvePlot::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  paint_scale(painter);
  if (points_.empty()) {
    painter.setPen(theme_of(palette()).faint);
    painter.drawText(area(), Qt::AlignCenter, tr("predicting the step time over this range"));
    return;
  }
  paint_curve(painter);
  paint_marks(painter);
}

void CurvePlot::paint_scale(QPainter& painter) const {
  const Theme theme = theme_of(palette());
  const QRectF box = area();
  painter.fillRect(box, theme.background);
  double free = 0;  // from here on there is no label yet
  for (const double value : ticks_of(knob_)) {
    const double x = box.left() + position_of(knob_, value) * box.width();
    painter.setPen(theme.grid);
    painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()));
    const QString text = QString::fromStdString(text_of(knob_, value));
    const double wide = painter.fontMetrics().horizontalAdvance(text) + 2;
    const double left = std::clamp(x - wide / 2, 0.0, std::max(0.0, width() - wide));
    if (left < free) continue;
    free = left + wide + 8;
    painter.setPen(theme.faint);
    painter.drawText(QRectF(left, box.bottom() + 1, wide, fontMetrics().height()), Qt::AlignCenter,
                     text);
  }
  painter.setPen(theme.grid);
  painter.drawLine(box.bottomLeft(), box.bottomRight());
  if (points_.empty()) return;
  painter.setPen(theme.faint);
  const bool left = position_of(knob_, value_) > 0.5;  // where the mark is not
  painter.drawText(box.adjusted(6, 0, -6, 0), left ? Qt::AlignLeft : Qt::AlignRight,
                   tr("step time, up to %1").arg(human_seconds({high_ / kAir})));
}

void CurvePlot::paint_curve(QPainter& painter) const {
  const Theme theme = theme_of(palette());
  QPainterPath line(at(points_.front()));
  for (const CurvePoint& point : points_) line.lineTo(at(point));
  QPainterPath under = line;
  under.lineTo(at(points_.back()).x(), area().bottom());
  under.lineTo(at(points_.front()).x(), area().bottom());
  QColor fill = theme.accent;
  fill.setAlphaF(0.12F);
  painter.fillPath(under, fill);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(theme.accent, 1.8));
  painter.drawPath(line);
  painter.setBrush(theme.accent);
  if (!knob_.counts()) return;
  for (const CurvePoint& point : points_) painter.drawEllipse(at(point), 2, 2);
}

void CurvePlot::paint_marks(QPainter& painter) const {
  const Theme theme = theme_of(palette());
  const QRectF box = area();
  if (baseline_ && baseline_->value < high_) {
    const double y = at({value_, *baseline_}).y();
    painter.setPen(QPen(theme.faint, 1, Qt::DashLine));
    painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y));
    painter.drawText(
        QRectF(box.left() + 4, y - fontMetrics().height(), box.width() - 8, fontMetrics().height()),
        Qt::AlignLeft, tr("baseline"));
  }
  if (!step_) return;
  const QPointF here = at({value_, *step_});
  painter.setPen(QPen(theme.text, 1));
  painter.drawLine(QPointF(here.x(), box.top()), QPointF(here.x(), box.bottom()));
  painter.setBrush(theme.accent);
  painter.drawEllipse(here, 4, 4);
  const QString text = human_seconds(*step_);
  const double wide = fontMetrics().horizontalAdvance(text) + 4;
  const bool left = here.x() + 8 + wide > box.right();
  painter.drawText(
      QRectF(left ? here.x() - 8 - wide : here.x() + 8, box.top(), wide, fontMetrics().height()),
      Qt::AlignCenter, text);
}

}  // namespace strata::gui
