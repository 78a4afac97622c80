#include "gui/widgets/sweep/points_picture.h"

#include <algorithm>
#include <cmath>

namespace strata::gui {
namespace {

constexpr std::size_t kManyPoints = 1500;  // beyond, points are squares of two pixels
constexpr std::size_t kMostHeldBack = 4000;
constexpr double kRoundDot = 3.5, kSquareDot = 1;

// Room for the longest label at the left, as far as it leaves room for the picture.
double label_room(const ChartAxis& axis, const QFontMetricsF& metrics) {
  double room = 0;
  for (const AxisTick& tick : axis.ticks()) {
    room = std::max(room, metrics.horizontalAdvance(QString::fromStdString(tick.label)));
  }
  return std::min(room, 140.0) + 14;
}

void draw_dot(QPainter& painter, QPointF at, double radius) {
  if (radius > kSquareDot) return painter.drawEllipse(at, radius, radius);
  painter.fillRect(QRectF(at.x() - 1, at.y() - 1, 2, 2), painter.brush());
}

// Of a column's numbers in rows that have another's, too.
Range values_beside(const ResultColumn& column, const ResultColumn& other) {
  std::vector<double> values;
  for (std::size_t row = 0; row < column.values.size(); ++row) {
    if (std::isfinite(column.values[row]) && other.has(row)) values.push_back(column.values[row]);
  }
  return range_of(values, false);
}

}  // namespace

PointsPicture::PointsPicture(PointsKind kind, ResultSketch sketch)
    : ResultPicture(std::move(sketch)), kind_(kind) {}

void PointsPicture::lay_out(std::size_t x, std::size_t y) {
  const QFontMetricsF metrics(font());
  const double line = metrics.height();
  const double top = line + 14, bottom = height() - 2 * line - 10;
  y_ = ChartAxis(all()[y], values_beside(all()[y], all()[x]), bottom, top);
  const double left = label_room(y_, metrics);
  x_ = ChartAxis(all()[x], values_beside(all()[x], all()[y]), left, width() - 18);
  set_area({left, top, width() - 18 - left, bottom - top});
}

void PointsPicture::draw(QPainter& painter) {
  const auto x = column(choice().x), y = column(choice().y), series = column(choice().series);
  if (!x || !y) return draw_message(painter, tr("Choose a column for each side."));
  lay_out(*x, *y);
  draw_axes(painter, x_, y_);
  const bool lines = kind_ == PointsKind::lines;
  if (results().rows.size() < all().rows()) draw_held_back(painter, *x, *y);
  const auto shown = series_of(all(), results().rows, *x, *y, series);
  std::size_t points = 0;
  std::vector<double> kinds;
  for (const PointSeries& one : shown) {
    points += one.points.size();
    if (series && !one.points.empty()) {
      kinds.push_back(all()[*series].values[one.points.front().row]);
    }
  }
  if (points == 0) return draw_message(painter, tr("No row passes that has both columns."));
  for (const PointSeries& one : shown) {
    painter.setPen(QPen(category_colour(one.place, theme()), 2));
    painter.setBrush(Qt::NoBrush);
    QPolygonF line;
    for (const ChartPoint& point : one.line) line << place(point);
    if (lines && !x_.words()) painter.drawPolyline(line);
    draw_series(painter, one, points > kManyPoints ? kSquareDot : kRoundDot);
  }
  if (!lines) draw_front(painter, *x, *y);
  if (series && shown.size() > 1) draw_legend(painter, all()[*series], kinds);
}

void PointsPicture::draw_held_back(QPainter& painter, std::size_t x, std::size_t y) const {
  const std::vector<std::uint32_t> hidden = held_back();
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme().grid);
  const auto held = series_of(all(), hidden, x, y, std::nullopt, kMostHeldBack);
  const double radius = hidden.size() > kManyPoints ? kSquareDot : kRoundDot;
  for (const PointSeries& one : held) {
    for (const ChartPoint& point : one.points) draw_dot(painter, place(point), radius);
  }
}

void PointsPicture::draw_series(QPainter& painter, const PointSeries& series, double radius) {
  painter.setPen(Qt::NoPen);
  painter.setBrush(category_colour(series.place, theme()));
  for (const ChartPoint& point : series.points) {
    draw_dot(painter, place(point), radius);
    add_spot(place(point), point.row);
  }
}

void PointsPicture::draw_front(QPainter& painter, std::size_t x, std::size_t y) const {
  QPolygonF front;
  for (const std::uint32_t row : pareto_front(all(), results().rows, x, y)) {
    front << QPointF(x_.at(all()[x].values[row]), y_.at(all()[y].values[row]));
  }
  painter.setPen(QPen(theme().critical, 1.5, Qt::DashLine));
  painter.setBrush(Qt::NoBrush);
  painter.drawPolyline(front);
  painter.setPen(QPen(theme().critical, 2));
  for (const QPointF& at : front) painter.drawEllipse(at, kRoundDot + 2, kRoundDot + 2);
  painter.setPen(theme().critical);
  const QString label = front.size() == 1
                            ? tr("1 row that no other beats in both")
                            : tr("%1 rows that no other beats in both").arg(front.size());
  const QFontMetricsF metrics(font());
  painter.drawText(QRectF(area().left() + 6, area().bottom() - metrics.height() - 4,
                          area().width() - 12, metrics.height()),
                   Qt::AlignRight | Qt::AlignVCenter,
                   metrics.elidedText(label, Qt::ElideRight, area().width() - 12));
}

std::map<std::string, Brush> PointsPicture::brushes_in(const QRectF& dragged) const {
  const auto x = column(choice().x), y = column(choice().y);
  if (!x || !y) return {};
  return {{choice().x,
           brush_between(all()[*x], x_.value_at(dragged.left()), x_.value_at(dragged.right()))},
          {choice().y,
           brush_between(all()[*y], y_.value_at(dragged.bottom()), y_.value_at(dragged.top()))}};
}

}  // namespace strata::gui
