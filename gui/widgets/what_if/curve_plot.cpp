#include "gui/widgets/what_if/curve_plot.h"

#include <QPainter>
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

void paint_filled(QPainter& painter, const QPainterPath& line, double bottom, const QPen& pen,
                  double share) {
  QPainterPath under = line;
  under.lineTo(line.currentPosition().x(), bottom);
  under.lineTo(line.elementAt(0).x, bottom);
  painter.fillPath(under, see_through(pen.color(), share));
  painter.setBrush(Qt::NoBrush);
  painter.setPen(pen);
  painter.drawPath(line);
  painter.setBrush(pen.color());
}

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
  paint_labels(painter);
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
}

void CurvePlot::paint_curve(QPainter& painter) const {
  const Theme theme = theme_of(palette());
  QPainterPath line(at(points_.front()));
  for (const CurvePoint& point : points_) line.lineTo(at(point));
  paint_filled(painter, line, area().bottom(), QPen(theme.accent, 1.8), 0.12);
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
  }
  if (!step_) return;
  const QPointF here = at({value_, *step_});
  painter.setPen(QPen(theme.text, 1));
  painter.drawLine(QPointF(here.x(), box.top()), QPointF(here.x(), box.bottom()));
  painter.setBrush(theme.accent);
  painter.drawEllipse(here, 4, 4);
}

CurveLabel CurvePlot::first_free(const QString& text, const std::vector<QPointF>& corners,
                                 const std::vector<CurveLabel>& taken) const {
  const QRectF inside = area();
  const QSizeF size(fontMetrics().horizontalAdvance(text) + 4, fontMetrics().height());
  for (const QPointF& corner : corners) {
    const QRectF place(corner, size);
    const bool free = std::none_of(taken.begin(), taken.end(), [&](const CurveLabel& other) {
      return other.place.intersects(place);
    });
    if (free && inside.contains(place)) return {text, place};
  }
  return {};
}

// The step time at hand comes first, then the baseline, then how high the plot is.
std::vector<CurveLabel> CurvePlot::labels() const {
  std::vector<CurveLabel> labels;
  if (points_.empty()) return labels;
  const QRectF box = area();
  const double line = fontMetrics().height(), left = box.left() + 4;
  const auto right_of = [&](const QString& text) {
    return box.right() - 8 - fontMetrics().horizontalAdvance(text);
  };
  const auto add = [&](const QString& text, const std::vector<QPointF>& corners) {
    const CurveLabel label = first_free(text, corners, labels);
    if (!label.text.isEmpty()) labels.push_back(label);
  };
  const double mark = at({value_, {}}).x();
  if (step_) {
    const QString text = human_seconds(*step_);
    const double before = mark - 12 - fontMetrics().horizontalAdvance(text);
    add(text, {{mark + 8, box.top()}, {before, box.top()}});
  }
  if (baseline_ && baseline_->value < high_) {
    const QString text = tr("baseline");
    const double y = at({value_, *baseline_}).y(), right = right_of(text);
    add(text, {{left, y - line}, {right, y - line}, {left, y}, {right, y}});
  }
  const QString text = tr("step time, up to %1").arg(human_seconds({high_ / kAir}));
  const double right = right_of(text);
  const bool at_left = mark > box.center().x();  // where the mark is not
  add(text, {{at_left ? left : right, box.top()}, {at_left ? right : left, box.top()}});
  return labels;
}

void CurvePlot::paint_labels(QPainter& painter) const {
  const Theme theme = theme_of(palette());
  for (const CurveLabel& label : labels()) {
    painter.setPen(step_ && label.text == human_seconds(*step_) ? theme.text : theme.faint);
    painter.drawText(label.place, Qt::AlignCenter, label.text);
  }
}

}  // namespace strata::gui
