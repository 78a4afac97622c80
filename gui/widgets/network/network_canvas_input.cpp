// What mouse and keyboard do to a NetworkCanvas.

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "gui/widgets/network/network_canvas.h"

namespace strata::gui {
namespace {

PickMode mode_of(Qt::KeyboardModifiers modifiers) {
  if (modifiers & Qt::ShiftModifier) return PickMode::range;
  return modifiers & Qt::ControlModifier ? PickMode::toggle : PickMode::replace;
}

}  // namespace

std::vector<std::size_t> NetworkCanvas::nodes_in(const QRectF& sheet) const {
  std::vector<std::size_t> nodes;
  for (std::size_t i = 0; i < map_.picture().nodes.size(); ++i) {
    if (sheet.intersects(map_.rect(i))) nodes.push_back(i);
  }
  return nodes;
}

void NetworkCanvas::wheelEvent(QWheelEvent* event) {
  event->accept();
  view_.take_wheel(*event);
  update();
}

void NetworkCanvas::mousePressEvent(QMouseEvent* event) {
  pressed_ = last_ = event->position();
  const bool pans = event->button() == Qt::MiddleButton ||
                    (event->button() == Qt::LeftButton && (event->modifiers() & Qt::AltModifier));
  if (pans) {
    drag_ = Drag::pan;
    setCursor(Qt::ClosedHandCursor);
    return;
  }
  const auto node = node_at(pressed_);
  if (event->button() != Qt::LeftButton) {
    if (node && !map_.selected(*node)) emit picked({*node}, PickMode::replace);
    return;
  }
  if (painting_) {
    drag_ = Drag::paint;
    painted_.clear();
    if (node) painted_.insert(*node);
    return update();
  }
  drag_ = Drag::press;
  if (!node) return;
  emit picked({*node}, mode_of(event->modifiers()));
  if (mode_of(event->modifiers()) != PickMode::range) set_current(node);
}

void NetworkCanvas::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  if (drag_ == Drag::pan) view_.pan(at - last_);
  if (drag_ == Drag::paint) {
    if (const auto node = node_at(at)) painted_.insert(*node);
  }
  const bool far = (at - pressed_).manhattanLength() > 5;
  if (drag_ == Drag::press && far && !node_at(pressed_)) drag_ = Drag::band;
  last_ = at;
  const auto over = node_at(at);
  if (drag_ != Drag::none || over != hovered_) update();
  hovered_ = over;
}

void NetworkCanvas::mouseReleaseEvent(QMouseEvent* event) {
  const Drag ended = std::exchange(drag_, Drag::none);
  setCursor(painting_ ? Qt::CrossCursor : Qt::ArrowCursor);
  if (ended == Drag::band) end_band(mode_of(event->modifiers()));
  if (ended == Drag::press && !node_at(pressed_) && event->modifiers() == Qt::NoModifier) {
    emit picked({}, PickMode::replace);
  }
  if (ended == Drag::paint && !painted_.empty()) {
    emit painted({painted_.begin(), painted_.end()});
    painted_.clear();
  }
  update();
}

void NetworkCanvas::end_band(PickMode mode) {
  const QRectF band = QRectF(view_.to_sheet(pressed_), view_.to_sheet(last_)).normalized();
  emit picked(nodes_in(band), mode == PickMode::replace ? mode : PickMode::toggle);
}

void NetworkCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || painting_) return;
  if (const auto node = node_at(event->position())) {
    emit opened(map_.picture().nodes[*node].part);
    return;
  }
  const QPointF at = view_.to_sheet(event->position());
  for (const auto& [frame, part] : map_.frames()) {
    const std::vector<std::size_t>& held = map_.parts()[part].children;
    if (frame.contains(at) && !held.empty()) return emit shut(held.front());
  }
}

void NetworkCanvas::leaveEvent(QEvent* event) {
  QWidget::leaveEvent(event);
  hovered_.reset();
  update();
}

void NetworkCanvas::keyPressEvent(QKeyEvent* event) {
  if (!move_key(event) && !view_key(event)) QWidget::keyPressEvent(event);
}

bool NetworkCanvas::move_key(QKeyEvent* event) {
  const PickMode mode = mode_of(event->modifiers());
  switch (event->key()) {
    case Qt::Key_Up:
      return step(0, -1, mode), true;
    case Qt::Key_Down:
      return step(0, 1, mode), true;
    case Qt::Key_Left:
      return step(-1, 0, mode), true;
    case Qt::Key_Right:
      return step(1, 0, mode), true;
    default:
      return false;
  }
}

bool NetworkCanvas::view_key(QKeyEvent* event) {
  if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier)) return false;
  switch (event->key()) {
    case Qt::Key_F:
      return fit(), true;
    case Qt::Key_E:
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (current_) emit opened(map_.picture().nodes[*current_].part);
      return current_.has_value();
    case Qt::Key_Backspace:
      if (current_) emit shut(map_.picture().nodes[*current_].part);
      return current_.has_value();
    default:
      if (!view_.take_key(event->key(), QRectF(rect()).center())) return false;
      update();
      return true;
  }
}

// To the nearest node in that direction; what lies aside counts double.
void NetworkCanvas::step(int dx, int dy, PickMode mode) {
  const std::size_t count = map_.picture().nodes.size();
  if (count == 0) return;
  std::optional<std::size_t> best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count && current_; ++i) {
    const QPointF to = map_.rect(i).center() - map_.rect(*current_).center();
    const double ahead = to.x() * dx + to.y() * dy;
    const double aside = std::abs(to.x() * dy) + std::abs(to.y() * dx);
    if (ahead < 1 || ahead + 2 * aside >= least) continue;
    least = ahead + 2 * aside;
    best = i;
  }
  // Over a column's end the network's order goes on.
  if (!best && current_ && dy > 0 && *current_ + 1 < count) best = *current_ + 1;
  if (!best && current_ && dy < 0 && *current_ > 0) best = *current_ - 1;
  if (!current_) best = 0;
  if (!best) return;
  set_current(best);
  show_node(*best);
  emit picked({*best}, mode);
}

}  // namespace strata::gui
