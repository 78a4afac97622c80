#pragma once

// Rows as points over two columns: with a line for each series, or with the front of those that no
// other beats in both. What the filter holds back stays as a shade behind.

#include "gui/models/sweep/result_chart.h"
#include "gui/widgets/sweep/result_picture.h"

namespace strata::gui {

enum class PointsKind : std::uint8_t { lines, pareto };

class PointsPicture : public ResultPicture {
 public:
  PointsPicture(PointsKind kind, ResultSketch sketch);
  std::map<std::string, Brush> brushes_in(const QRectF& dragged) const override;

 protected:
  void lay_out() override;
  void draw(QPainter& painter) const override;

 private:
  void lay_out_axes(std::size_t x, std::size_t y);
  void lay_out_points(std::size_t x, std::size_t y);
  void lay_out_front(std::size_t x, std::size_t y);
  QPointF place(const ChartPoint& point) const { return {x_.at(point.x), y_.at(point.y)}; }
  /// With an arrow to where it is better.
  QString title(const ChartAxis& axis, const std::string& name, const QString& less,
                const QString& more) const;

  void draw_points(QPainter& painter, const PointSeries& series) const;
  void draw_line(QPainter& painter, const PointSeries& series) const;
  void draw_front(QPainter& painter) const;

  PointsKind kind_;
  ChartAxis x_, y_;
  std::optional<std::size_t> series_column_;
  std::vector<PointSeries> held_back_, series_;
  std::vector<double> kinds_;  ///< of the series that are there
  std::vector<std::uint32_t> front_rows_;
  QPolygonF front_;
  QString footnote_;
  double radius_ = 0;  ///< of a dot
};

}  // namespace strata::gui
