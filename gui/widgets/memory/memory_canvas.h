#pragma once

// Each device's memory over time, stacked by purpose, at first in one step of the steady state. The
// picture is as high as the highest peak, or as the capacity. A click asks for a moment.

#include <QAbstractScrollArea>
#include <QPoint>
#include <memory>
#include <optional>

#include "gui/models/memory/memory_stack.h"
#include "gui/models/timeline/time_window.h"
#include "gui/widgets/theme.h"

namespace strata::gui {

QColor colour_of(MemoryUseKind kind, const Theme& theme);

class MemoryCanvas : public QAbstractScrollArea {
  Q_OBJECT

 public:
  /// A device at a time.
  struct Moment {
    DeviceId device;
    double at = 0;
    bool operator==(const Moment&) const = default;
  };

  explicit MemoryCanvas(QWidget* parent = nullptr);

  /// Null: nothing. What is on the screen stays there; what is all, or the step, stays that.
  void show_picture(std::shared_ptr<const MemoryPicture> picture);
  void set_hint(const QString& hint);
  const TimeWindow& window() const { return window_; }
  /// By the user; until then the scale that fits the picture.
  void set_scale(MemoryScale scale);
  MemoryScale scale() const;
  /// The range, the step, or all.
  void fit();
  void set_range(std::optional<TimeRange> range);
  std::optional<TimeRange> range() const { return range_; }

  /// Does not say so; brings it into view.
  void select(std::optional<Moment> moment);
  std::optional<Moment> selected() const { return selected_; }
  /// When the device's memory is the fullest.
  Moment peak_of(DeviceId device) const;
  /// The device whose peak is the highest.
  DeviceId fullest() const;
  /// Where it is painted.
  QPoint point_of(const Moment& moment) const;
  void paint(QPainter& painter);

 signals:
  /// By the user.
  void picked();
  void range_picked();
  void scale_changed();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  static constexpr int kRuler = 26;  // pixels

  int names() const;
  int row_height() const;
  QRect row_box(std::size_t device) const;
  QRectF stack_box(std::size_t device) const;
  QRect time_area() const;
  double time_of(int x) const;
  double x_of(double time) const;
  double y_of(const QRectF& box, std::int64_t bytes) const;
  TimeWindow step_window() const;
  std::optional<Moment> moment_at(QPoint at) const;
  void lay_out();
  void pick(const Moment& moment);
  /// To the next (or previous) level of the selected device.
  void step(int by);
  void move(const TimeWindow& window);
  QString text_at(const Moment& moment) const;

  bool handle_key(int key);

  void paint_device(QPainter& painter, std::size_t device);
  void paint_stack(QPainter& painter, const MemoryStack& stack, const QRectF& box);
  void paint_capacity(QPainter& painter, const MemoryStack& stack, const QRectF& box);
  void paint_levels(QPainter& painter, std::size_t device);
  void paint_name(QPainter& painter, std::size_t device);
  void paint_meter(QPainter& painter, const QRect& box, double share);
  void paint_ruler(QPainter& painter);
  void paint_range(QPainter& painter);
  void paint_peak(QPainter& painter, std::size_t device);

  std::shared_ptr<const MemoryPicture> picture_;
  QString hint_;
  Theme theme_;
  TimeWindow window_;
  std::optional<MemoryScale> wanted_scale_;
  double top_ = 1;  // bytes at the top of each row, but for some air
  std::optional<Moment> selected_;
  std::optional<TimeRange> range_;
  std::optional<QPoint> pressed_;
  bool measuring_ = false;
};

}  // namespace strata::gui
