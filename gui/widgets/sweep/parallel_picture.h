#pragma once

// Every column that varies as an axis beside the others, and every row as a line across them. A
// drag along an axis keeps the rows that cross it there; a click on the axis' name lets all pass.

#include "gui/models/sweep/result_chart.h"
#include "gui/widgets/sweep/result_picture.h"

namespace strata::gui {

class ParallelPicture : public ResultPicture {
 public:
  using ResultPicture::ResultPicture;
  std::map<std::string, Brush> brushes_in(const QRectF& dragged) const override;
  std::optional<std::string> heading_at(QPointF at) const override;

 protected:
  void draw(QPainter& painter) override;

 private:
  double axis_x(std::size_t axis) const;
  double level_y(float at) const;
  std::optional<std::size_t> axis_near(double x) const;
  void draw_strokes(QPainter& painter, const std::vector<std::uint32_t>& rows, bool faint) const;
  void draw_axis(QPainter& painter, std::size_t axis) const;
  void draw_brush(QPainter& painter, std::size_t axis) const;
  /// The value at a height; of words a place.
  double value_at(const ResultColumn& column, double y) const;

  std::vector<std::size_t> axes_;
};

}  // namespace strata::gui
