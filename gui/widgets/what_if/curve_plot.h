#pragma once

// The step time over a slider's range, drawn under the slider so that a point of the curve stands
// below the handle that means it.

#include <QPainterPath>
#include <QPen>
#include <QWidget>
#include <optional>
#include <vector>

#include "gui/models/what_if/knobs.h"

namespace strata::gui {

struct CurveLabel {
  QString text;
  QRectF place;
};

/// A line from left to right, over what lies between it and `bottom`, which has the colour in part.
void paint_filled(QPainter& painter, const QPainterPath& line, double bottom, const QPen& pen,
                  double share);

class CurvePlot : public QWidget {
  Q_OBJECT

 public:
  explicit CurvePlot(QWidget* parent = nullptr);

  void show_points(const Knob& knob, std::vector<CurvePoint> points);
  const std::vector<CurvePoint>& points() const { return points_; }
  /// The slider's value, and the baseline's step time.
  void mark(double value, std::optional<Seconds> step, std::optional<Seconds> baseline);
  /// What is written in the plot: what finds no room beside the others is left out.
  std::vector<CurveLabel> labels() const;
  /// Where the middle of the slider's handle is at both ends of its range.
  void set_margins(int margin);

  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QRectF area() const;
  QPointF at(const CurvePoint& point) const;
  void paint_scale(QPainter& painter) const;
  void paint_curve(QPainter& painter) const;
  void paint_marks(QPainter& painter) const;
  void paint_labels(QPainter& painter) const;
  CurveLabel first_free(const QString& text, const std::vector<QPointF>& corners,
                        const std::vector<CurveLabel>& taken) const;

  Knob knob_;
  std::vector<CurvePoint> points_;
  double value_ = 1, high_ = 1;
  std::optional<Seconds> step_, baseline_;
  int margin_ = 8;
};

}  // namespace strata::gui
