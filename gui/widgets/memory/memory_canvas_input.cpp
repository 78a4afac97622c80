// What keys, wheel and mouse do to the memory's picture.

#include <QApplication>
#include <QEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "gui/widgets/memory/memory_canvas.h"
#include "gui/widgets/navigation.h"

namespace strata::gui {

void MemoryCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  paint(painter);
}

void MemoryCanvas::resizeEvent(QResizeEvent*) {
  lay_out();
}

void MemoryCanvas::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() != QEvent::PaletteChange && event->type() != QEvent::FontChange) return;
  theme_ = theme_of(palette());
  viewport()->update();
}

void MemoryCanvas::wheelEvent(QWheelEvent* event) {
  const double at = time_of(static_cast<int>(event->position().x()));
  take_wheel(window_, *event, at, *verticalScrollBar());
  viewport()->update();
  event->accept();
}

void MemoryCanvas::mousePressEvent(QMouseEvent* event) {
  pressed_ = event->position().toPoint();
  measuring_ = false;
}

void MemoryCanvas::mouseMoveEvent(QMouseEvent* event) {
  const QPoint at = event->position().toPoint();
  if (!pressed_ || !picture_) return;
  measuring_ =
      measuring_ || (at - *pressed_).manhattanLength() >= QApplication::startDragDistance() / 2;
  if (!measuring_) return;
  const double a = std::clamp(time_of(pressed_->x()), 0.0, window_.limit());
  const double b = std::clamp(time_of(at.x()), 0.0, window_.limit());
  set_range(TimeRange{{std::min(a, b)}, {std::max(a, b)}});
  emit range_picked();
}

// Close to a peak the peak is meant.
void MemoryCanvas::mouseReleaseEvent(QMouseEvent* event) {
  pressed_.reset();
  const auto moment = moment_at(event->position().toPoint());
  if (measuring_ || !moment) return;
  constexpr int kNear = 5;
  const Moment peak = peak_of(moment->device);
  pick(std::abs(x_of(peak.at) - event->position().x()) <= kNear ? peak : *moment);
}

void MemoryCanvas::keyPressEvent(QKeyEvent* event) {
  const bool modified =
      (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) != 0;
  if (!picture_ || modified || !handle_key(event->key())) {
    QAbstractScrollArea::keyPressEvent(event);
  }
}

bool MemoryCanvas::handle_key(int key) {
  const DeviceId device = selected_ ? selected_->device : fullest();
  const double at = selected_ ? selected_->at : peak_of(device).at;
  const auto last = static_cast<int>(picture_->stacks.size()) - 1;
  const auto other = [&](int by) {
    return DeviceId(static_cast<std::size_t>(std::clamp(static_cast<int>(device()) + by, 0, last)));
  };
  switch (key) {
    case Qt::Key_F:
      return fit(), true;
    case Qt::Key_C:
      set_scale(scale() == MemoryScale::peak ? MemoryScale::capacity : MemoryScale::peak);
      return true;
    case Qt::Key_P:
      return pick(peak_of(device)), true;
    case Qt::Key_Up:
      return pick({other(-1), at}), true;
    case Qt::Key_Down:
      return pick({other(1), at}), true;
    case Qt::Key_Period:
      return step(1), true;
    case Qt::Key_Comma:
      return step(-1), true;
    case Qt::Key_Escape:
      set_range(std::nullopt);
      emit range_picked();
      return true;
    default:
      if (!take_key(window_, key, at)) return false;
      viewport()->update();
      return true;
  }
}

}  // namespace strata::gui
