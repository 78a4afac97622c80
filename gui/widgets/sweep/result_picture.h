#pragma once

// A chart of rows as it is painted once, with what is needed to find rows and values on it. It
// knows no window: large ones are painted in a job. What a chart looks like its kinds say.

#include <QCoreApplication>
#include <QFont>
#include <QImage>
#include <QPainter>
#include <QPointF>
#include <QRectF>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/models/sweep/chart_axis.h"
#include "gui/models/sweep/result_filter.h"
#include "gui/widgets/theme.h"

namespace strata::gui {

/// What a chart shows; columns by name, since they come with the rows. Empty: none.
struct ChartChoice {
  std::string x, y, series;  ///< a heat map's `series` is the column of its colours
  bool operator==(const ChartChoice&) const = default;
};

/// All that a picture is made of.
struct ResultSketch {
  ResultSetPtr all;
  std::vector<std::uint32_t> rows;  ///< that pass
  std::vector<char> shown;          ///< by row: whether it passes
  ResultFilter filter;
  ChartChoice choice;
  Theme theme;
  QFont font;
  QSize size;
};

class ResultPicture {
  Q_DECLARE_TR_FUNCTIONS(strata::gui::ResultPicture)

 public:
  explicit ResultPicture(ResultSketch sketch) : sketch_(std::move(sketch)) {}
  virtual ~ResultPicture() = default;
  ResultPicture(const ResultPicture&) = delete;
  ResultPicture& operator=(const ResultPicture&) = delete;

  /// Once, before all else.
  void paint(QPainter& painter);
  /// As an image with so many pixels for each of the window's.
  QImage image(double ratio);

  /// Where a row is drawn.
  std::optional<QPointF> spot_of(std::uint32_t row) const;
  /// From left to right, or as the chart has them.
  std::vector<std::uint32_t> rows_in_order() const;
  virtual std::optional<std::uint32_t> row_near(QPointF at) const;
  /// The filters that a dragged rectangle means.
  virtual std::map<std::string, Brush> brushes_in(const QRectF& dragged) const = 0;
  /// The column whose name stands here, all of which a click lets pass.
  virtual std::optional<std::string> heading_at(QPointF /*at*/) const { return std::nullopt; }
  /// The rectangle that values lie in.
  QRectF area() const { return area_; }

 protected:
  virtual void draw(QPainter& painter) = 0;

  const ResultSketch& results() const { return sketch_; }
  const ResultSet& all() const { return *sketch_.all; }
  const ChartChoice& choice() const { return sketch_.choice; }
  const Theme& theme() const { return sketch_.theme; }
  const QFont& font() const { return sketch_.font; }
  int width() const { return sketch_.size.width(); }
  int height() const { return sketch_.size.height(); }
  std::optional<std::size_t> column(const std::string& name) const { return all().find(name); }
  std::vector<std::uint32_t> held_back() const;
  void add_spot(QPointF at, std::uint32_t row) { spots_.push_back({at, row}); }
  void set_area(const QRectF& area) { area_ = area; }

  /// Grid, ticks and titles of both sides around the area.
  void draw_axes(QPainter& painter, const ChartAxis& x, const ChartAxis& y) const;
  /// In a line above the area.
  void draw_legend(QPainter& painter, const ResultColumn& column,
                   const std::vector<double>& kinds) const;
  void draw_message(QPainter& painter, const QString& text) const;

 private:
  struct Spot {
    QPointF at;
    std::uint32_t row = 0;
  };

  void draw_x_ticks(QPainter& painter, const ChartAxis& x) const;
  void draw_y_ticks(QPainter& painter, const ChartAxis& y) const;

  ResultSketch sketch_;
  QRectF area_;
  std::vector<Spot> spots_;
};

}  // namespace strata::gui
