// What mouse and keyboard do to a NetworkCanvas.

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

void NetworkCanvas::mousePressEvent(QMouseEvent* event) {
  if (brushing_) return;  // with another button
  const auto node = node_at(event->position());
  brushing_ = painting_ && event->button() == Qt::LeftButton;
  if (brushing_ && node) painted_.insert(*node);
  if (brushing_) return update();
  SheetCanvas::mousePressEvent(event);
}

void NetworkCanvas::mouseMoveEvent(QMouseEvent* event) {
  const auto over = node_at(event->position());
  if (brushing_ && over) painted_.insert(*over);
  if (std::exchange(hovered_, over) != over) update();
  if (!brushing_) SheetCanvas::mouseMoveEvent(event);
}

void NetworkCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (!brushing_) return SheetCanvas::mouseReleaseEvent(event);
  if (event->button() != Qt::LeftButton) return;
  brushing_ = false;
  const std::set<std::size_t> nodes = std::exchange(painted_, {});
  if (!nodes.empty()) emit painted({nodes.begin(), nodes.end()});
  update();
}

void NetworkCanvas::click(const QPointF& at, Qt::KeyboardModifiers modifiers) {
  const auto node = node_at(at);
  if (!node && modifiers == Qt::NoModifier) emit picked({}, PickMode::replace);
  if (!node) return;
  emit picked({*node}, mode_of(modifiers));
  if (mode_of(modifiers) != PickMode::range) set_current(node);
}

void NetworkCanvas::pick_band(const QRectF& sheet, Qt::KeyboardModifiers modifiers) {
  std::vector<std::size_t> nodes;
  for (std::size_t i = 0; i < map_.picture().nodes.size(); ++i) {
    if (sheet.intersects(map_.rect(i))) nodes.push_back(i);
  }
  const bool more = (modifiers & Qt::ControlModifier) != 0;
  emit picked(nodes, more ? PickMode::toggle : PickMode::replace);
}

void NetworkCanvas::double_click(const QPointF& at) {
  if (painting_) return;
  if (const auto node = node_at(at)) {
    emit opened(map_.picture().nodes[*node].part);
    return;
  }
  for (const auto& [frame, part] : map_.frames()) {
    const std::vector<std::size_t>& held = map_.parts()[part].children;
    if (frame.contains(view().to_sheet(at)) && !held.empty()) return emit shut(held.front());
  }
}

void NetworkCanvas::leaveEvent(QEvent* event) {
  QWidget::leaveEvent(event);
  hovered_.reset();
  update();
}

void NetworkCanvas::pick_for_menu(const QPointF& at) {
  const auto node = node_at(at);
  if (node && !painting_ && !map_.selected(*node)) click(at, Qt::NoModifier);
}

QPointF NetworkCanvas::current_place() const {
  return current_ ? centre_of(*current_) : room().center();
}

bool NetworkCanvas::take_key(const QKeyEvent& event) {
  if (move_key(event)) return true;
  return !(event.modifiers() & (Qt::ControlModifier | Qt::AltModifier)) && part_key(event.key());
}

bool NetworkCanvas::move_key(const QKeyEvent& event) {
  const PickMode mode = mode_of(event.modifiers());
  switch (event.key()) {
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

bool NetworkCanvas::part_key(int key) {
  const bool opens = key == Qt::Key_E || key == Qt::Key_Return || key == Qt::Key_Enter;
  if (!current_ || (!opens && key != Qt::Key_Backspace)) return false;
  const std::size_t part = map_.picture().nodes[*current_].part;
  if (opens) emit opened(part);
  if (!opens) emit shut(part);
  return true;
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
