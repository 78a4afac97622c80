#include "gui/widgets/sweep/points_picture.h"

#include <algorithm>
#include <cmath>

namespace strata::gui {
namespace {

constexpr std::size_t kManyPoints = 1500;  // beyond, points are squares of two pixels
constexpr std::size_t kMostHeldBack = 4000;
constexpr double kRoundDot = 3.5, kSquareDot = 1;

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

std::vector<std::string> labels(const ChartAxis& axis) {
  std::vector<std::string> labels;
  for (const AxisTick& tick : axis.ticks()) labels.push_back(tick.label);
  return labels;
}

}  // namespace

PointsPicture::PointsPicture(PointsKind kind, ResultSketch sketch)
    : ResultPicture(std::move(sketch)), kind_(kind) {}

void PointsPicture::lay_out() {
  const auto x = column(choice().x), y = column(choice().y);
  if (!x || !y) return say(tr("Choose a column for each side."));
  series_column_ = column(choice().series);
  lay_out_axes(*x, *y);
  lay_out_front(*x, *y);
  lay_out_points(*x, *y);
  if (series_.empty()) say(tr("No row passes that has both columns. Esc lets all pass again."));
}

void PointsPicture::lay_out_axes(std::size_t x, std::size_t y) {
  const QFontMetricsF metrics(font());
  const double line = metrics.height();
  const double top = line + 14, bottom = height() - 2 * line - 10;
  y_ = ChartAxis(all()[y], values_beside(all()[y], all()[x]), bottom, top);
  const double left = name_room(metrics, labels(y_));
  x_ = ChartAxis(all()[x], values_beside(all()[x], all()[y]), left, width() - 18);
  set_area({left, top, width() - 18 - left, height() - 2 * line - 10 - top});
}

void PointsPicture::lay_out_front(std::size_t x, std::size_t y) {
  if (kind_ != PointsKind::pareto) return;
  front_rows_ = pareto_front(all(), results().rows, x, y);
  for (const std::uint32_t row : front_rows_) {
    front_ << QPointF(x_.at(all()[x].values[row]), y_.at(all()[y].values[row]));
  }
  footnote_ = front_rows_.size() == 1
                  ? tr("1 row that no other beats in both")
                  : tr("%1 rows that no other beats in both").arg(front_rows_.size());
}

// Of many shades each point has its own; the line goes through all of them.
void PointsPicture::lay_out_points(std::size_t x, std::size_t y) {
  const bool apart = series_column_ && !shaded(all()[*series_column_]);
  const auto told_apart = apart ? series_column_ : std::nullopt;
  series_ = series_of(all(), results().rows, x, y, told_apart, kMostPoints, front_rows_);
  if (results().rows.size() < all().rows()) {
    held_back_ = series_of(all(), held_back(), x, y, std::nullopt, kMostHeldBack);
  }
  std::size_t points = 0;
  for (const PointSeries& one : series_) {
    points += one.points.size();
    kinds_.push_back(one.value);
    for (const ChartPoint& point : one.points) add_spot(place(point), point.row);
  }
  radius_ = points > kManyPoints ? kSquareDot : kRoundDot;
  if (kind_ == PointsKind::lines && !x_.words()) {
    footnote_ = mixed_text(all(), mixed_settings(all(), results().rows, x, told_apart));
  }
}

QString PointsPicture::title(const ChartAxis& axis, const std::string& name, const QString& less,
                             const QString& more) const {
  QString text = QString::fromStdString(axis.title());
  if (kind_ != PointsKind::pareto) return text;
  return more_is_better(all()[*column(name)]) ? text + more : less + text;
}

void PointsPicture::draw(QPainter& painter) const {
  const QString below = title(x_, choice().x, tr("← less is better: "), tr(": more is better →"));
  const QString beside = title(y_, choice().y, tr("↓ "), tr(" ↑"));
  draw_axes(painter, x_, y_, below, beside);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme().grid);
  for (const PointSeries& one : held_back_) {
    for (const ChartPoint& point : one.points) draw_dot(painter, place(point), radius_);
  }
  for (const PointSeries& one : series_) draw_line(painter, one);
  for (const PointSeries& one : series_) draw_points(painter, one);
  draw_front(painter);
  draw_footnote(painter, footnote_, below);
  if (series_column_) draw_legend(painter, *series_column_, kinds_);
}

void PointsPicture::draw_line(QPainter& painter, const PointSeries& series) const {
  if (kind_ != PointsKind::lines || x_.words()) return;
  const bool apart = series_column_ && !shaded(all()[*series_column_]);
  painter.setPen(QPen(apart            ? colour_of(series_column_, series.value)
                      : series_column_ ? theme().faint
                                       : colour_of({}, 0),
                      2));
  painter.setBrush(Qt::NoBrush);
  QPolygonF line;
  for (const ChartPoint& point : series.line) line << place(point);
  painter.drawPolyline(line);
}

void PointsPicture::draw_points(QPainter& painter, const PointSeries& series) const {
  painter.setPen(Qt::NoPen);
  for (const ChartPoint& point : series.points) {
    const double value = series_column_ ? all()[*series_column_].values[point.row] : 0;
    painter.setBrush(colour_of(series_column_, value));
    draw_dot(painter, place(point), radius_);
  }
}

void PointsPicture::draw_front(QPainter& painter) const {
  painter.setPen(QPen(theme().critical, 1.5, Qt::DashLine));
  painter.setBrush(Qt::NoBrush);
  painter.drawPolyline(front_);
  painter.setPen(QPen(theme().critical, 2));
  for (const QPointF& at : front_) painter.drawEllipse(at, kRoundDot + 2, kRoundDot + 2);
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
