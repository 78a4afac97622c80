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

 protected:
  void draw(QPainter& painter) override;

 private:
  QRectF cell(std::size_t x, std::size_t y) const;
  std::optional<std::pair<std::size_t, std::size_t>> cell_at(QPointF at) const;
  void draw_cells(QPainter& painter, const ResultColumn& value);
  void draw_names(QPainter& painter, const ResultColumn& x, const ResultColumn& y) const;
  void draw_scale(QPainter& painter, const ResultColumn& value) const;
  double loudness(const ResultColumn& column, double value) const;

  HeatMap map_;
};

}  // namespace strata::gui
