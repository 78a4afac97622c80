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

/// A sheet as a widget shows it: enlarged, then moved. It cannot be lost: a part of it stays in the
/// room that it has, as large as a quarter of that or as all of the sheet, and it is never smaller
/// than half of what fits.
class SheetView {
 public:
  /// Of the scale: at most, and of a small sheet that fits, which is not blown up.
  SheetView(double most, double most_fitted) : most_(most), most_fitted_(most_fitted) {}

  double scale() const { return scale_; }
  QPointF offset() const { return offset_; }
  /// Until the user moves it.
  bool fitted() const { return fitted_; }

  QPointF to_sheet(const QPointF& at) const { return (at - offset_) / scale_; }
  QPointF to_widget(const QPointF& at) const { return at * scale_ + offset_; }
  QRectF to_widget(const QRectF& box) const {
    return {to_widget(box.topLeft()), to_widget(box.bottomRight())};
  }

  /// Another sheet, or another room for it: what was fitted fits again, what was moved stays.
  void show(const QRectF& sheet, const QRectF& room);
  /// All of the sheet in the middle of the room.
  void fit();
  void pan(const QPointF& by);
  /// What is at a point of the widget stays there.
  void zoom(double factor, const QPointF& at);
  /// + and - about the middle of the room; false for other keys.
  bool take_key(int key);
  /// Zooms about the mouse; with Shift, or turned sideways, it pans.
  void take_wheel(const QWheelEvent& event);

 private:
  double fitting_scale() const;
  void keep_in_room();

  double most_, most_fitted_;
  QRectF sheet_, room_;
  double scale_ = 1;
  QPointF offset_;
  bool fitted_ = true;
};

/// W and S, + and - zoom about the time `at`; A and D, left and right pan. False for other keys.
bool take_key(TimeWindow& window, int key, double at);
/// Zooms with Ctrl about the time `at`; pans with Shift or sideways, by as many pixels of `width`
/// as a touchpad says; else turns the bar, or zooms where there is none.
void take_wheel(TimeWindow& window, const QWheelEvent& event, double at, int width,
                QScrollBar* bar);

/// Tool tips of what is at a point, as long as the widget lives; empty: nothing worth one.
void show_tips(QWidget* widget, std::function<QString(QPoint at)> text);

}  // namespace strata::gui
