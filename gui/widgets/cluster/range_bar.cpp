#include "gui/widgets/cluster/range_bar.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/models/text.h"
#include "gui/widgets/theme.h"

namespace strata::gui {
namespace {

constexpr double kEdgeNear = 5;  // pixels to an edge that is meant

}  // namespace

RangeBar::RangeBar(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Range of time"));
  setToolTip(tr("Drag to pick a range of time, drag it to scrub; double click for all"));
}

QSize RangeBar::sizeHint() const {
  return {400, 3 * fontMetrics().height() + 6};
}

void RangeBar::show_time(Seconds end, std::vector<double> heights,
                         std::optional<TimeRange> steady) {
  end_ = end;
  heights_ = std::move(heights);
  steady_ = steady;
  update();
}

void RangeBar::show_range(std::optional<TimeRange> range) {
  range_ = range;
  update();
}

QRectF RangeBar::strip() const {
  return QRectF(rect()).adjusted(1, 1, -1, -fontMetrics().height() - 3);
}

double RangeBar::x_of(Seconds at) const {
  return strip().left() + (end_.value > 0 ? at / end_ : 0) * strip().width();
}

Seconds RangeBar::time_at(double x) const {
  return end_ * std::clamp((x - strip().left()) / std::max(1.0, strip().width()), 0.0, 1.0);
}

RangeBar::Grip RangeBar::grip_at(double x) const {
  if (!range_) return Grip::fresh;
  const double begin = x_of(range_->begin), end = x_of(range_->end);
  if (std::abs(x - begin) < kEdgeNear) return Grip::begin;
  if (std::abs(x - end) < kEdgeNear) return Grip::end;
  return x > begin && x < end ? Grip::all : Grip::fresh;
}

void RangeBar::pick(Seconds begin, Seconds end) {
  if (end < begin) std::swap(begin, end);
  range_ = TimeRange{std::max(begin, Seconds{}), std::min(end, end_)};
  update();
  emit picked(range_);
}

void RangeBar::scrub(double lengths) {
  if (end_.value <= 0) return;
  if (!range_) return pick(Seconds{}, end_ * 0.1);
  const Seconds length = range_->length();
  const Seconds begin = std::clamp(range_->begin + length * lengths, Seconds{}, end_ - length);
  pick(begin, begin + length);
}

void RangeBar::pick_all() {
  grip_ = Grip::none;
  show_range(std::nullopt);
  emit picked(std::nullopt);
}

void RangeBar::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || end_.value <= 0) return;
  grip_ = grip_at(event->position().x());
  grabbed_ = time_at(event->position().x());
  if (!range_) return;
  begin_ = range_->begin;
  end_before_ = range_->end;
}

void RangeBar::mouseMoveEvent(QMouseEvent* event) {
  const double x = event->position().x();
  if (grip_ == Grip::none) {
    const Grip over = grip_at(x);
    setCursor(over == Grip::all     ? Qt::OpenHandCursor
              : over == Grip::fresh ? Qt::CrossCursor
                                    : Qt::SizeHorCursor);
    return;
  }
  const Seconds at = time_at(x);
  if (grip_ == Grip::fresh && std::abs(x_of(grabbed_) - x) < 2) return;
  if (grip_ == Grip::fresh) return pick(grabbed_, at);
  if (grip_ == Grip::begin) return pick(at, end_before_);
  if (grip_ == Grip::end) return pick(begin_, at);
  const Seconds length = end_before_ - begin_;
  const Seconds begin = std::clamp(begin_ + (at - grabbed_), Seconds{}, end_ - length);
  pick(begin, begin + length);
}

void RangeBar::mouseReleaseEvent(QMouseEvent* /*event*/) {
  grip_ = Grip::none;
}

void RangeBar::mouseDoubleClickEvent(QMouseEvent* /*event*/) {
  pick_all();
}

void RangeBar::keyPressEvent(QKeyEvent* event) {
  const bool left = event->key() == Qt::Key_Left, right = event->key() == Qt::Key_Right;
  if (event->key() == Qt::Key_Escape && range_) return pick_all();
  if (!left && !right) return QWidget::keyPressEvent(event);
  const double share = (event->modifiers() & Qt::ShiftModifier) != 0 ? 1 : 0.1;
  scrub(left ? -share : share);
}

void RangeBar::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Theme theme = theme_of(palette());
  const QRectF box = strip();
  painter.fillRect(box, theme.background);
  if (steady_) {
    painter.fillRect(
        QRectF(QPointF(x_of(steady_->begin), box.top()), QPointF(x_of(steady_->end), box.bottom())),
        see_through(theme.text, 0.06));
  }
  const double wide = heights_.empty() ? 0 : box.width() / static_cast<double>(heights_.size());
  for (std::size_t i = 0; i < heights_.size(); ++i) {
    const double high = std::clamp(heights_[i], 0.0, 1.0) * (box.height() - 2);
    const QRectF bar(box.left() + wide * static_cast<double>(i), box.bottom() - high, wide + 0.5,
                     high);
    painter.fillRect(bar, scale_colour(heights_[i], theme));
  }
  painter.setPen(theme.faint);
  const QRectF line(box.left(), box.bottom() + 2, box.width(), fontMetrics().height());
  const QString text =
      range_ ? tr("%1 from %2").arg(human_seconds(range_->length()), human_seconds(range_->begin))
             : tr("all %1: numbers are of one steady step").arg(human_seconds(end_));
  if (end_.value > 0) {
    painter.drawText(
        line, Qt::AlignLeft,
        painter.fontMetrics().elidedText(text, Qt::ElideRight, static_cast<int>(line.width())));
  }
  if (range_) {
    const QRectF picked(QPointF(x_of(range_->begin), box.top()),
                        QPointF(x_of(range_->end), box.bottom()));
    painter.fillRect(picked, see_through(theme.accent, 0.25));
    painter.setPen(QPen(theme.accent, 2));
    painter.drawLine(picked.topLeft(), picked.bottomLeft());
    painter.drawLine(picked.topRight(), picked.bottomRight());
  }
  painter.setPen(hasFocus() ? theme.accent : theme.grid);
  painter.drawRect(box);
}

}  // namespace strata::gui
