#pragma once

// Each device's memory over time, stacked by purpose, at first in one step of the steady state. The
// picture is as high as the highest peak, or as the capacity. A click asks for a moment.

#include <memory>
#include <optional>

#include "gui/models/memory/memory_stack.h"
#include "gui/widgets/time_canvas.h"

namespace strata::gui {

QColor colour_of(MemoryUseKind kind, const Theme& theme);

class MemoryCanvas : public TimeCanvas {
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
  /// By the user; until then the scale that fits the picture.
  void set_scale(MemoryScale scale);
  MemoryScale scale() const;

  /// Does not say so; brings it into view.
  void select(std::optional<Moment> moment);
  std::optional<Moment> selected() const { return selected_; }
  /// When the device's memory is the fullest.
  Moment peak_of(DeviceId device) const;
  /// The device whose peak is the highest.
  DeviceId fullest() const;
  /// Where it is painted.
  QPoint point_of(const Moment& moment) const;

 signals:
  /// By the user.
  void picked();
  void scale_changed();

 protected:
  bool is_empty() const override { return !picture_; }
  std::optional<TimeRange> steady() const override { return picture_->steady; }
  std::optional<TimeRange> step() const override { return picture_->steady; }
  void lay_out() override;
  void paint_rows(QPainter& painter) override;
  QString tip_at(QPoint at) const override;
  void click(QPoint at) override;
  bool take_own_key(int key, Qt::KeyboardModifiers modifiers) override;
  double zoom_centre() const override { return asked().at; }

 private:
  int row_height() const;
  QRect row_box(std::size_t device) const;
  QRectF stack_box(std::size_t device) const;
  double y_of(const QRectF& box, std::int64_t bytes) const;
  std::optional<Moment> moment_at(QPoint at) const;
  /// What is selected, else the highest peak.
  Moment asked() const;
  void pick(const Moment& moment);
  /// To the next (or previous) level of the selected device.
  void step_by(int by);
  QString text_at(const Moment& moment) const;

  void paint_device(QPainter& painter, std::size_t device);
  void paint_stack(QPainter& painter, const MemoryStack& stack, const QRectF& box);
  void paint_capacity(QPainter& painter, const MemoryStack& stack, const QRectF& box);
  void paint_levels(QPainter& painter, std::size_t device);
  void paint_name(QPainter& painter, std::size_t device);
  void paint_meter(QPainter& painter, const QRect& box, double share);
  void paint_peak(QPainter& painter, std::size_t device);

  std::shared_ptr<const MemoryPicture> picture_;
  std::optional<MemoryScale> wanted_scale_;
  double top_ = 1;  // bytes at the top of each row, but for some air
  std::optional<Moment> selected_;
};

}  // namespace strata::gui
