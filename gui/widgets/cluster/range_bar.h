#pragma once

// All of a timeline as a strip: how busy it is over time, the steady steps shaded, and the range
// that is picked. Drag picks a range, drag inside it moves it, its edges widen it; a double click
// or Escape picks all again. Arrows move it by a tenth, with Shift by its length.

#include <QWidget>
#include <optional>
#include <vector>

#include "gui/models/selection.h"

namespace strata::gui {

class RangeBar : public QWidget {
  Q_OBJECT

 public:
  explicit RangeBar(QWidget* parent = nullptr);

  /// `heights` from 0 to 1, over all of the time.
  void show_time(Seconds end, std::vector<double> heights, std::optional<TimeRange> steady);
  void show_range(std::optional<TimeRange> range);
  std::optional<TimeRange> range() const { return range_; }
  /// By so many times its length; where nothing is picked, the first tenth is.
  void scrub(double lengths);
  void pick_all();

  QSize sizeHint() const override;

 signals:
  void picked(std::optional<strata::gui::TimeRange> range);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  enum class Grip { none, fresh, begin, end, all };

  QRectF strip() const;
  double x_of(Seconds at) const;
  Seconds time_at(double x) const;
  Grip grip_at(double x) const;
  void pick(Seconds begin, Seconds end);

  Seconds end_{0};
  std::vector<double> heights_;
  std::optional<TimeRange> steady_, range_;
  Grip grip_ = Grip::none;
  Seconds grabbed_, begin_, end_before_;  ///< where the drag began, and what was picked then
};

}  // namespace strata::gui
