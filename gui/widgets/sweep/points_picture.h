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
  void draw(QPainter& painter) override;

 private:
  void lay_out(std::size_t x, std::size_t y);
  QPointF place(const ChartPoint& point) const { return {x_.at(point.x), y_.at(point.y)}; }
  void draw_held_back(QPainter& painter, std::size_t x, std::size_t y) const;
  void draw_series(QPainter& painter, const PointSeries& series, double radius);
  void draw_front(QPainter& painter, std::size_t x, std::size_t y) const;

  PointsKind kind_;
  ChartAxis x_, y_;
};

}  // namespace strata::gui
