#pragma once

// A chart of rows as it is drawn, with what is needed to find rows and values on it. It knows no
// window: what takes long is arranged once, in a job where there are many rows, and then painted as
// often and as large as anybody likes. What a chart looks like its kinds say.

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

#include "gui/models/sweep/result_chart.h"
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
  QString why_empty;
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
  void arrange();
  void paint(QPainter& painter) const;
  /// As an image with so many pixels for each of the window's.
  QImage image(double ratio) const;
  /// Shows where a row is, on top of the rest.
  virtual void mark(QPainter& painter, std::uint32_t row) const;

  /// Whether it is a picture of these rows, and no others of the same numbers.
  bool is_of(const ResultSetPtr& all) const { return sketch_.all == all; }
  /// Where a row is drawn.
  std::optional<QPointF> spot_of(std::uint32_t row) const;
  /// From left to right, or as the chart has them.
  std::vector<std::uint32_t> rows_in_order() const;
  virtual std::optional<std::uint32_t> row_near(QPointF at) const;
  /// What is to be said of this place besides the row.
  virtual QString note_at(QPointF /*at*/) const { return {}; }
  /// The filters that a dragged rectangle means.
  virtual std::map<std::string, Brush> brushes_in(const QRectF& dragged) const = 0;
  /// The column whose name stands here, all of which a click lets pass.
  virtual std::optional<std::string> heading_at(QPointF /*at*/) const { return std::nullopt; }
  /// The rectangle that values lie in.
  QRectF area() const { return area_; }

 protected:
  /// Finds places for everything: area, spots, or a message instead.
  virtual void lay_out() = 0;
  virtual void draw(QPainter& painter) const = 0;

  const ResultSketch& results() const { return sketch_; }
  const ResultSet& all() const { return *sketch_.all; }
  const ChartChoice& choice() const { return sketch_.choice; }
  const Theme& theme() const { return sketch_.theme; }
  const QFont& font() const { return sketch_.font; }
  int width() const { return sketch_.size.width(); }
  int height() const { return sketch_.size.height(); }
  std::optional<std::size_t> column(const std::string& name) const { return all().find(name); }
  /// Rows that do not pass.
  std::vector<std::uint32_t> held_back() const;
  void add_spot(QPointF at, std::uint32_t row) { spots_.push_back({at, row}); }
  void set_area(const QRectF& area) { area_ = area; }
  /// There is nothing to draw, for this reason.
  void say(const QString& message) { message_ = message; }

  /// Whether its values are so many that they are told apart by shades.
  static bool shaded(const ResultColumn& series);
  QColor colour_of(std::optional<std::size_t> series, double value) const;
  /// Grid, ticks and titles of both sides around the area.
  void draw_axes(QPainter& painter, const ChartAxis& x, const ChartAxis& y, const QString& x_title,
                 const QString& y_title) const;
  /// At the right of the line below the x axis.
  void draw_footnote(QPainter& painter, const QString& text, const QString& x_title) const;
  /// In a line above the area, of these values or of shades.
  void draw_legend(QPainter& painter, std::size_t series, std::vector<double> kinds) const;
  void draw_shades(QPainter& painter, const ResultColumn& column, double low, double high,
                   bool turned) const;

 private:
  struct Spot {
    QPointF at;
    std::uint32_t row = 0;
  };

  void draw_x_ticks(QPainter& painter, const ChartAxis& x) const;
  void draw_y_ticks(QPainter& painter, const ChartAxis& y) const;
  void draw_message(QPainter& painter) const;

  ResultSketch sketch_;
  QString message_;
  QRectF area_;
  std::vector<Spot> spots_;
};

/// Room for names at the left of a chart, as far as it leaves room for the rest.
double name_room(const QFontMetricsF& metrics, const std::vector<std::string>& names);
/// "over model, batch": what the medians of a chart put together; empty: nothing.
QString mixed_text(const ResultSet& results, const std::vector<std::size_t>& columns);

}  // namespace strata::gui
