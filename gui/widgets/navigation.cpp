#include "gui/widgets/navigation.h"

#include <QHelpEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::gui {
namespace {

constexpr double kKeyZoom = 1.25, kKeyPan = 0.15;
constexpr double kPixelZoom = 1.0025;  // of a sheet, for each pixel that a wheel would scroll
constexpr double kNotch = 120;         // of a wheel, in Qt's units

// 1 for the keys that enlarge, -1 for those that do the opposite.
int enlarges(int key) {
  const bool more = key == Qt::Key_Plus || key == Qt::Key_Equal;
  return more ? 1 : key == Qt::Key_Minus ? -1 : 0;
}

// Where a sheet's edge may be, nearest to where it is, so that enough of the sheet is in the room.
double nearest_in(double edge, double length, double room, double room_length) {
  const double seen = std::min(length, room_length / 4);
  return std::clamp(edge, room + seen - length, room + room_length - seen);
}

class Tips : public QObject {
 public:
  Tips(QWidget* widget, std::function<QString(QPoint)> text)
      : QObject(widget), text_(std::move(text)) {}

  bool eventFilter(QObject* widget, QEvent* event) override {
    if (event->type() != QEvent::ToolTip) return false;
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), text_(help->pos()), static_cast<QWidget*>(widget));
    return true;
  }

 private:
  std::function<QString(QPoint)> text_;
};

}  // namespace

void SheetView::show(const QRectF& sheet, const QRectF& room) {
  sheet_ = sheet;
  room_ = room;
  fitted_ ? fit() : keep_in_room();
}

double SheetView::fitting_scale() const {
  return std::min({room_.width() / sheet_.width(), room_.height() / sheet_.height(), most_fitted_});
}

void SheetView::fit() {
  if (sheet_.isEmpty() || room_.width() < 2 || room_.height() < 2) return;
  scale_ = fitting_scale();
  offset_ = room_.center() - sheet_.center() * scale_;
  fitted_ = true;
}

void SheetView::pan(const QPointF& by) {
  offset_ += by;
  fitted_ = false;
  keep_in_room();
}

void SheetView::zoom(double factor, const QPointF& at) {
  if (sheet_.isEmpty() || room_.isEmpty()) return;
  const QPointF fixed = to_sheet(at);
  const double least = std::min(fitting_scale() / 2, most_);
  scale_ = std::clamp(scale_ * factor, least, most_);
  offset_ = at - fixed * scale_;
  fitted_ = false;
  keep_in_room();
}

void SheetView::keep_in_room() {
  if (sheet_.isEmpty() || room_.isEmpty()) return;
  const QRectF box = to_widget(sheet_);
  const QPointF nearest(nearest_in(box.left(), box.width(), room_.left(), room_.width()),
                        nearest_in(box.top(), box.height(), room_.top(), room_.height()));
  offset_ += nearest - box.topLeft();
}

bool SheetView::take_key(int key) {
  if (enlarges(key) != 0) zoom(std::pow(kKeyZoom, enlarges(key)), room_.center());
  return enlarges(key) != 0;
}

void SheetView::take_wheel(const QWheelEvent& event) {
  const QPointF delta =
      event.pixelDelta().isNull() ? QPointF(event.angleDelta()) / 2 : QPointF(event.pixelDelta());
  if ((event.modifiers() & Qt::ShiftModifier) != 0) {
    return pan(delta.x() == 0 ? QPointF(delta.y(), 0) : delta);
  }
  if (std::abs(delta.x()) > std::abs(delta.y())) return pan({delta.x(), 0});
  zoom(std::pow(kPixelZoom, delta.y()), event.position());
}

bool take_key(TimeWindow& window, int key, double at) {
  const int zoom = key == Qt::Key_W ? 1 : key == Qt::Key_S ? -1 : enlarges(key);
  const bool left = key == Qt::Key_A || key == Qt::Key_Left;
  const bool right = key == Qt::Key_D || key == Qt::Key_Right;
  if (zoom != 0) window.zoom(std::pow(kKeyZoom, -zoom), at);
  if (left || right) window.pan(left ? -kKeyPan : kKeyPan);
  return zoom != 0 || left || right;
}

void show_tips(QWidget* widget, std::function<QString(QPoint at)> text) {
  widget->installEventFilter(new Tips(widget, std::move(text)));
}

void take_wheel(TimeWindow& window, const QWheelEvent& event, double at, int width,
                QScrollBar* bar) {
  const QPoint turned = event.angleDelta(), pixels = event.pixelDelta();
  const bool sideways = std::abs(turned.x()) > std::abs(turned.y());
  const auto along = [&](const QPoint& by) { return sideways ? by.x() : by.y(); };
  const double notches = along(turned) / kNotch;
  const bool zooms = (event.modifiers() & Qt::ControlModifier) != 0;
  const bool pans = (event.modifiers() & Qt::ShiftModifier) != 0 || sideways;
  if (zooms || (!pans && bar == nullptr)) {
    window.zoom(std::pow(kKeyZoom, -notches), at);
  } else if (pans) {
    window.pan(pixels.isNull() ? -kKeyPan / 2 * notches
                               : -static_cast<double>(along(pixels)) / std::max(width, 1));
  } else {
    bar->setValue(bar->value() - (pixels.isNull()
                                      ? static_cast<int>(notches * 3 * bar->singleStep())
                                      : pixels.y()));
  }
}

}  // namespace strata::gui
