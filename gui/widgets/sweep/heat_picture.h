#pragma once

// The median of one column where two others have each pair of their values, as colours.

#include <utility>

#include "gui/models/sweep/result_chart.h"
#include "gui/widgets/sweep/result_picture.h"

namespace strata::gui {

class HeatPicture : public ResultPicture {
 public:
  using ResultPicture::ResultPicture;
  std::map<std::string, Brush> brushes_in(const QRectF& dragged) const override;
  std::optional<std::uint32_t> row_near(QPointF at) const override;
  QString note_at(QPointF at) const override;

 protected:
  void lay_out() override;
  void draw(QPainter& painter) const override;

 private:
  QRectF cell(std::size_t x, std::size_t y) const;
  std::optional<std::pair<std::size_t, std::size_t>> cell_at(QPointF at) const;
  void draw_cell(QPainter& painter, std::size_t x, std::size_t y) const;
  void draw_names_below(QPainter& painter) const;
  void draw_names_beside(QPainter& painter) const;
  double loudness(double value) const;

  const ResultColumn& across() const { return all()[x_]; }
  const ResultColumn& up() const { return all()[y_]; }
  const ResultColumn& value() const { return all()[value_]; }

  HeatMap map_;
  std::size_t x_ = 0, y_ = 0, value_ = 0;  ///< columns
  QString footnote_;
};

}  // namespace strata::gui
