#pragma once

// How pictures are moved about and enlarged, by wheel and keys, alike in all canvases: a sheet in
// the plane, or a stretch of time; and how they tell what is under the mouse. The canvas says what
// else its keys mean, and paints.

#include <QPointF>
#include <QRectF>
#include <QScrollBar>
#include <QWheelEvent>
#include <functional>

#include "gui/models/timeline/time_window.h"

namespace strata::gui {

/// A sheet as a widget shows it: enlarged, then moved.
class SheetView {
 public:
  struct Limits {
    double least = 0, most = 1;  ///< of the scale
    double most_fitted = 1;      ///< a small sheet is not blown up
  };
  explicit SheetView(const Limits& limits) : limits_(limits) {}

  double scale() const { return scale_; }
  QPointF offset() const { return offset_; }
  /// Until the user moves it.
  bool fitted() const { return fitted_; }

  QPointF to_sheet(const QPointF& at) const { return (at - offset_) / scale_; }
  QPointF to_widget(const QPointF& at) const { return at * scale_ + offset_; }
  QRectF to_widget(const QRectF& box) const {
    return {to_widget(box.topLeft()), to_widget(box.bottomRight())};
  }

  /// All of the sheet in the middle of the room.
  void fit(const QRectF& sheet, const QRectF& room);
  void pan(const QPointF& by);
  /// What is at a point of the widget stays there.
  void zoom(double factor, const QPointF& at);
  /// + and - about `middle`; false for other keys.
  bool take_key(int key, const QPointF& middle);
  /// Zooms with Ctrl, or where it always does; else it scrolls, with Shift sideways.
  void take_wheel(const QWheelEvent& event, bool always_zooms = false);

 private:
  Limits limits_;
  double scale_ = 1;
  QPointF offset_;
  bool fitted_ = true;
};

/// W and S, + and - zoom about the time `at`; A and D, left and right pan. False for other keys.
bool take_key(TimeWindow& window, int key, double at);
/// Zooms with Ctrl about the time `at`, pans with Shift or sideways, else turns the bar.
void take_wheel(TimeWindow& window, const QWheelEvent& event, double at, QScrollBar& bar);

/// Tool tips of what is at a point, as long as the widget lives; empty: nothing worth one.
void show_tips(QWidget* widget, std::function<QString(QPoint at)> text);

}  // namespace strata::gui
