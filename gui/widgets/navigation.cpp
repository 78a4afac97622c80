#include "gui/widgets/navigation.h"

#include <QHelpEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::gui {
namespace {

constexpr double kKeyZoom = 1.25, kKeyPan = 0.15;
constexpr double kNotch = 120;  // of a wheel, in Qt's units

// 1 for the keys that enlarge, -1 for those that do the opposite.
int enlarges(int key) {
  const bool more = key == Qt::Key_Plus || key == Qt::Key_Equal;
  return more ? 1 : key == Qt::Key_Minus ? -1 : 0;
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

void SheetView::fit(const QRectF& sheet, const QRectF& room) {
  if (sheet.isEmpty() || room.width() < 2 || room.height() < 2) return;
  scale_ = std::clamp(std::min(room.width() / sheet.width(), room.height() / sheet.height()),
                      limits_.least, limits_.most_fitted);
  offset_ = room.center() - sheet.center() * scale_;
  fitted_ = true;
}

void SheetView::pan(const QPointF& by) {
  offset_ += by;
  fitted_ = false;
}

void SheetView::zoom(double factor, const QPointF& at) {
  const QPointF fixed = to_sheet(at);
  scale_ = std::clamp(scale_ * factor, limits_.least, limits_.most);
  offset_ = at - fixed * scale_;
  fitted_ = false;
}

bool SheetView::take_key(int key, const QPointF& middle) {
  if (enlarges(key) != 0) zoom(std::pow(kKeyZoom, enlarges(key)), middle);
  return enlarges(key) != 0;
}

void SheetView::take_wheel(const QWheelEvent& event, bool always_zooms) {
  const QPointF delta =
      event.pixelDelta().isNull() ? QPointF(event.angleDelta()) / 2 : QPointF(event.pixelDelta());
  if (always_zooms || (event.modifiers() & Qt::ControlModifier) != 0) {
    return zoom(std::pow(1.0025, delta.y()), event.position());
  }
  const bool sideways = (event.modifiers() & Qt::ShiftModifier) != 0 && delta.x() == 0;
  pan(sideways ? QPointF(delta.y(), 0) : delta);
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

void take_wheel(TimeWindow& window, const QWheelEvent& event, double at, QScrollBar& bar) {
  const QPoint turned = event.angleDelta();
  const double notches = (turned.y() != 0 ? turned.y() : turned.x()) / kNotch;
  if ((event.modifiers() & Qt::ControlModifier) != 0) {
    window.zoom(std::pow(kKeyZoom, -notches), at);
  } else if ((event.modifiers() & Qt::ShiftModifier) != 0 || turned.y() == 0) {
    window.pan(-kKeyPan / 2 * notches);
  } else {
    bar.setValue(bar.value() - static_cast<int>(notches * 3 * bar.singleStep()));
  }
}

}  // namespace strata::gui
