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
  std::optional<std::uint32_t> row_near(QPointF at) const override;
  void mark(QPainter& painter, std::uint32_t row) const override;

 protected:
  void lay_out() override;
  void draw(QPainter& painter) const override;

 private:
  using Gaps = std::vector<std::vector<Stroke>>;  ///< by the axis at their left

  void lay_out_spots();
  Gaps gaps_of(const std::vector<std::uint32_t>& rows) const;
  const ResultColumn& shown(std::size_t axis) const { return all()[axes_[axis]]; }
  double axis_x(std::size_t axis) const;
  double level_y(float at) const;
  /// Where a row crosses an axis.
  std::optional<double> crossing(std::size_t axis, std::uint32_t row) const;
  std::optional<std::size_t> axis_near(double x) const;
  /// The value at a height; of words a place.
  double value_at(const ResultColumn& column, double y) const;

  void draw_gaps(QPainter& painter, const Gaps& gaps, bool faint) const;
  void draw_axis(QPainter& painter, std::size_t axis) const;
  void draw_labels(QPainter& painter, std::size_t axis) const;
  void draw_label(QPainter& painter, std::size_t axis, double middle, const QString& label,
                  double room) const;
  void draw_brush(QPainter& painter, std::size_t axis) const;

  std::vector<std::size_t> axes_;
  Gaps passing_, held_back_;
};

}  // namespace strata::gui
