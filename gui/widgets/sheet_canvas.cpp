#include "gui/widgets/sheet_canvas.h"

#include <utility>

#include "gui/widgets/theme.h"

namespace strata::gui {
namespace {

constexpr double kDragged = 5;  // pixels: less is a click

}  // namespace

SheetCanvas::SheetCanvas(const SheetView& view, QWidget* parent) : QWidget(parent), view_(view) {
  setFocusPolicy(Qt::StrongFocus);
  show_tips(this, [this](QPoint at) { return sheet().isEmpty() ? QString() : tip_at(at); });
}

void SheetCanvas::fit() {
  view_.fit();
  update();
}

void SheetCanvas::close_menu() {
  if (menu_) menu_->close();
}

void SheetCanvas::show_sheet() {
  view_.show(sheet(), room());
  update();
}

void SheetCanvas::pan(const QPointF& by) {
  view_.pan(by);
  update();
}

void SheetCanvas::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Theme theme = theme_of(palette());
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), theme.background);
  if (sheet().isEmpty()) {
    painter.setPen(theme.faint);
    painter.drawText(rect().adjusted(20, 20, -20, -20), Qt::AlignCenter | Qt::TextWordWrap,
                     placeholder());
    return;
  }
  paint_sheet(painter);
  if (drag_ == Drag::band) {
    painter.setPen(theme.accent);
    painter.setBrush(see_through(theme.accent, 0.15));
    painter.drawRect(QRectF(pressed_, last_).normalized());
  }
  paint_legend(painter);
}

void SheetCanvas::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  show_sheet();
}

void SheetCanvas::wheelEvent(QWheelEvent* event) {
  event->accept();
  view_.take_wheel(*event);
  update();
}

void SheetCanvas::mousePressEvent(QMouseEvent* event) {
  if (drag_ != Drag::none) return;  // with another button
  pressed_ = last_ = event->position();
  button_ = event->button();
  if (event->button() == Qt::LeftButton) drag_ = Drag::press;
  if (event->button() == Qt::MiddleButton) begin_drag(Drag::pan);
}

void SheetCanvas::begin_drag(Drag drag) {
  drag_ = drag;
  if (drag != Drag::pan) return;
  cursor_ = cursor();
  setCursor(Qt::ClosedHandCursor);
}

void SheetCanvas::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  const bool far = (at - pressed_).manhattanLength() >= kDragged;
  if (drag_ == Drag::press && far) {
    const bool band = has_bands() && (event->modifiers() & Qt::ShiftModifier) != 0;
    begin_drag(band ? Drag::band : Drag::pan);
  }
  if (drag_ == Drag::none || drag_ == Drag::press) return;
  const QPointF before = std::exchange(last_, at);
  if (drag_ == Drag::pan) view_.pan(at - before);
  update();
}

void SheetCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != button_) return;
  const Drag ended = std::exchange(drag_, Drag::none);
  if (ended == Drag::pan) setCursor(cursor_);
  if (ended == Drag::press) click(pressed_, event->modifiers());
  if (ended != Drag::band) return;
  pick_band(QRectF(view_.to_sheet(pressed_), view_.to_sheet(last_)).normalized(),
            event->modifiers());
  update();
}

void SheetCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) double_click(event->position());
}

void SheetCanvas::keyPressEvent(QKeyEvent* event) {
  if (take_key(*event)) return;
  const bool plain = (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier)) == 0;
  if (plain && event->key() == Qt::Key_F) return fit();
  if (!plain || !view_.take_key(event->key())) return QWidget::keyPressEvent(event);
  update();
}

void SheetCanvas::contextMenuEvent(QContextMenuEvent* event) {
  if (drag_ != Drag::none) return;
  const bool by_key = event->reason() == QContextMenuEvent::Keyboard;
  const QPointF at = by_key ? current_place() : QPointF(event->pos());
  if (!by_key) pick_for_menu(at);
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->setToolTipsVisible(true);
  menu_ = menu;
  emit menu_wanted(*menu, at.toPoint());
  menu->isEmpty() ? delete menu : menu->popup(mapToGlobal(at.toPoint()));
}

}  // namespace strata::gui
