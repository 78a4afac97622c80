// What keys, wheel and mouse do to the timeline.

#include <QApplication>
#include <QEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "gui/widgets/navigation.h"
#include "gui/widgets/timeline/timeline_canvas.h"

namespace strata::gui {
namespace {

QString joined(const std::vector<std::string>& lines) {
  QStringList list;
  for (const std::string& line : lines) list << QString::fromStdString(line);
  return list.join(QLatin1Char('\n'));
}

QString tip_of(const Recording& recording, SlicePlace place) {
  const Slice& slice = recording.at(place);
  const LaneName& lane = recording.lanes[place.lane].name();
  if (lane.kind == LaneKind::curve) {
    return QStringLiteral("%1 % of %2")
        .arg(100 * static_cast<double>(slice.height), 0, 'f', 1)
        .arg(QString::fromStdString(recording.labels[slice.label].text));
  }
  if (!recording.facts) return QString::fromStdString(recording.labels[slice.label].text);
  return joined(recording.facts->lines(slice.id));
}

}  // namespace

void TimelineCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  paint(painter);
}

void TimelineCanvas::resizeEvent(QResizeEvent*) {
  lay_out();
}

void TimelineCanvas::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() != QEvent::PaletteChange && event->type() != QEvent::FontChange) return;
  theme_ = theme_of(palette());
  for (std::size_t side = 0; side < 2; ++side) {
    if (sides_[side]) painters_[side] = std::make_unique<LanePainter>(*sides_[side], theme_);
  }
  wanted_names_ = wanted_names();
  new_lit();
  lay_out();
}

bool TimelineCanvas::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) {
    mouse_x_.reset();
    viewport()->update();
    emit hovered(std::nullopt);
  }
  return QAbstractScrollArea::viewportEvent(event);
}

QString TimelineCanvas::tip_at(QPoint at) const {
  if (const auto slice = slice_at(at)) return tip_of(*sides_[slice->side], slice->place);
  const bool in_ruler = at.y() < time_area().top() && at.x() >= time_area().left();
  if (!in_ruler || !sides_[0] || !sides_[0]->steady) return {};
  const TimeRange steady = *sides_[0]->steady;
  const double time = time_of(at.x());
  if (time < steady.begin.value || time > steady.end.value) return {};
  return tr(
      "The steady state: from the end of one step to that of a later one. The time of a step "
      "and the shares on the critical path are taken here.");
}

void TimelineCanvas::wheelEvent(QWheelEvent* event) {
  mouse_x_ = static_cast<int>(event->position().x());
  TimeWindow next = window_;
  take_wheel(next, *event, time_at_mouse(), *verticalScrollBar());
  move_window(next);
  event->accept();
}

void TimelineCanvas::mousePressEvent(QMouseEvent* event) {
  pressed_ = event->position().toPoint();
  window_at_press_ = window_;
  const bool pans =
      event->button() == Qt::MiddleButton || (event->modifiers() & Qt::ShiftModifier) != 0;
  if (sides_[0]) drag_ = pans ? Drag::pan : Drag::press;
}

void TimelineCanvas::mouseMoveEvent(QMouseEvent* event) {
  const QPoint at = event->position().toPoint();
  mouse_x_ = at.x();
  const bool moved = (at - pressed_).manhattanLength() >= QApplication::startDragDistance() / 2;
  if (drag_ == Drag::press && moved && pressed_.x() >= time_area().left()) drag_ = Drag::range;
  if (drag_ == Drag::range) {
    const double a = std::clamp(time_of(pressed_.x()), 0.0, window_.limit());
    const double b = std::clamp(time_of(at.x()), 0.0, window_.limit());
    range_ = TimeRange{{std::min(a, b)}, {std::max(a, b)}};
    emit range_picked();
  } else if (drag_ == Drag::pan) {
    TimeWindow next = window_at_press_;
    next.pan(static_cast<double>(pressed_.x() - at.x()) / std::max(time_area().width(), 1));
    move_window(next);
  } else {
    emit hovered(slice_at(at));
  }
  viewport()->update();
}

void TimelineCanvas::mouseReleaseEvent(QMouseEvent*) {
  const Drag ended = std::exchange(drag_, Drag::none);
  if (ended != Drag::press) return;
  if (const auto row = row_at(pressed_)) emit row_picked(*row);
  if (pressed_.x() < time_area().left()) return;
  const auto slice = slice_at(pressed_);
  const bool curve =
      slice && sides_[slice->side]->lanes[slice->place.lane].name().kind == LaneKind::curve;
  if (!slice && range_) {
    range_.reset();
    emit range_picked();
  }
  if (!curve) pick(slice);
}

void TimelineCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const auto slice = slice_at(event->position().toPoint())) {
    TimeWindow next = window_;
    const Slice& shown = sides_[slice->side]->at(slice->place);
    next.show(shown.begin - shown.length(), shown.end + shown.length());
    move_window(next);
  }
}

void TimelineCanvas::keyPressEvent(QKeyEvent* event) {
  if (!sides_[0] || !handle_key(event->key(), event->modifiers())) {
    QAbstractScrollArea::keyPressEvent(event);
  }
}

bool TimelineCanvas::handle_key(int key, Qt::KeyboardModifiers modifiers) {
  if ((modifiers & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) != 0) return false;
  TimeWindow next = window_;
  switch (key) {
    case Qt::Key_F:
      return fit(), true;
    case Qt::Key_Period:
      return pick_neighbour(1), true;
    case Qt::Key_Comma:
      return pick_neighbour(-1), true;
    case Qt::Key_Up:
      return pick_lane(-1), true;
    case Qt::Key_Down:
      return pick_lane(1), true;
    case Qt::Key_P:
      return toggle_pin(), true;
    case Qt::Key_Slash:
      emit search_wanted();
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return pick_match((modifiers & Qt::ShiftModifier) != 0);
    case Qt::Key_Escape:
      range_.reset();
      emit range_picked();
      return pick(std::nullopt), true;
    default:
      if (!take_key(next, key, time_at_mouse())) return false;
      return move_window(next), true;
  }
}

}  // namespace strata::gui
