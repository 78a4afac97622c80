#include "gui/widgets/sweep/parallel_picture.h"

#include <algorithm>
#include <cmath>

#include "gui/models/sweep/result_table.h"

namespace strata::gui {
namespace {

constexpr double kAxisRoom = 85;            // pixels that an axis needs at least
constexpr std::size_t kMostStrokes = 2500;  // between two axes
constexpr std::size_t kSmoothStrokes = 400;

constexpr double kBrushWidth = 12;
constexpr double kWordHeight = 16;  // of a brush around a word

}  // namespace

void ParallelPicture::lay_out() {
  axes_ = usual_axes(all(), static_cast<std::size_t>(std::max(2.0, width() / kAxisRoom)));
  if (axes_.size() < 2) return say(tr("Nothing varies between these rows."));
  const double line = QFontMetricsF(font()).height();
  const double beside = std::min(70.0, width() * 0.07);
  const double top = 2 * line + 20;
  set_area(QRectF(beside, top, width() - 2 * beside, height() - line - 6 - top));
  passing_ = gaps_of(results().rows);
  if (results().rows.size() < all().rows()) held_back_ = gaps_of(held_back());
  lay_out_spots();
}

// Each row has one where it ends, from the top down.
void ParallelPicture::lay_out_spots() {
  if (results().rows.size() > kMostPoints) return;
  std::vector<std::pair<double, std::uint32_t>> ends;
  for (const std::uint32_t row : results().rows) {
    if (const auto y = crossing(axes_.size() - 1, row)) ends.emplace_back(*y, row);
  }
  std::sort(ends.begin(), ends.end());
  for (const auto& [y, row] : ends) add_spot({axis_x(axes_.size() - 1), y}, row);
}

ParallelPicture::Gaps ParallelPicture::gaps_of(const std::vector<std::uint32_t>& rows) const {
  Gaps gaps;
  const auto series = column(choice().series);
  for (std::size_t axis = 0; axis + 1 < axes_.size(); ++axis) {
    gaps.push_back(strokes(all(), rows, axes_[axis], axes_[axis + 1], series, kMostStrokes));
  }
  return gaps;
}

double ParallelPicture::axis_x(std::size_t axis) const {
  return area().left() +
         area().width() * static_cast<double>(axis) / static_cast<double>(axes_.size() - 1);
}

double ParallelPicture::level_y(float at) const {
  return area().bottom() - area().height() * static_cast<double>(at);
}

std::optional<double> ParallelPicture::crossing(std::size_t axis, std::uint32_t row) const {
  const auto at = level(shown(axis), shown(axis).values[row]);
  return at ? std::optional(level_y(*at)) : std::nullopt;
}

void ParallelPicture::draw(QPainter& painter) const {
  draw_gaps(painter, held_back_, true);
  draw_gaps(painter, passing_, false);
  painter.setRenderHint(QPainter::Antialiasing);
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) draw_axis(painter, axis);
  if (const auto series = column(choice().series)) {
    draw_legend(painter, *series, all()[*series].kinds);
  }
}

// Strokes of more rows are stronger.
void ParallelPicture::draw_gaps(QPainter& painter, const Gaps& gaps, bool faint) const {
  const auto series = column(choice().series);
  for (std::size_t axis = 0; axis < gaps.size(); ++axis) {
    const std::vector<Stroke>& drawn = gaps[axis];
    painter.setRenderHint(QPainter::Antialiasing, drawn.size() <= kSmoothStrokes);
    const std::size_t most = drawn.empty() ? 1 : drawn.back().count;
    for (const Stroke& stroke : drawn) {
      QColor colour = faint ? theme().grid : colour_of(series, stroke.series);
      const double share = static_cast<double>(stroke.count) / static_cast<double>(most);
      if (!faint) colour.setAlphaF(static_cast<float>(0.35 + 0.5 * share));
      painter.setPen(QPen(colour, faint || drawn.size() > kSmoothStrokes ? 1 : 1 + 2 * share));
      painter.drawLine(QPointF(axis_x(axis), level_y(stroke.from)),
                       QPointF(axis_x(axis + 1), level_y(stroke.to)));
    }
  }
}

// The whole of its line.
void ParallelPicture::mark(QPainter& painter, std::uint32_t row) const {
  if (row >= all().rows()) return;  // they came later
  QPolygonF line;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    if (const auto y = crossing(axis, row)) line << QPointF(axis_x(axis), *y);
  }
  painter.setPen(QPen(theme().text, 2.5));
  painter.setBrush(Qt::NoBrush);
  painter.drawPolyline(line);
  painter.setBrush(theme().text);
  for (const QPointF& at : line) painter.drawEllipse(at, 3, 3);
}

// Between two axes a row is where its line is.
std::optional<std::uint32_t> ParallelPicture::row_near(QPointF at) const {
  constexpr double kNear = 8;
  if (axes_.size() < 2 || !area().adjusted(-kNear, -kNear, kNear, kNear).contains(at)) return {};
  const double gap = area().width() / static_cast<double>(axes_.size() - 1);
  const double along =
      std::clamp((at.x() - area().left()) / gap, 0.0, static_cast<double>(axes_.size() - 1) - 1e-6);
  const auto axis = static_cast<std::size_t>(along);
  std::optional<std::uint32_t> nearest;
  double best = kNear;
  for (const std::uint32_t row : results().rows) {
    const auto left = crossing(axis, row), right = crossing(axis + 1, row);
    if (!left || !right) continue;
    const double part = along - static_cast<double>(axis);
    const double off = std::abs(*left + part * (*right - *left) - at.y());
    if (off >= best) continue;
    best = off;
    nearest = row;
  }
  return nearest;
}

double ParallelPicture::value_at(const ResultColumn& along, double y) const {
  const double part = (area().bottom() - y) / area().height();
  if (!wants_logarithm(along)) return along.low + part * (along.high - along.low);
  return std::exp(std::log(along.low) + part * (std::log(along.high) - std::log(along.low)));
}

std::optional<std::size_t> ParallelPicture::axis_near(double x) const {
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    const double half = area().width() / static_cast<double>(axes_.size() - 1) / 2;
    if (std::abs(axis_x(axis) - x) <= std::min(40.0, half)) return axis;
  }
  return std::nullopt;
}

std::map<std::string, Brush> ParallelPicture::brushes_in(const QRectF& dragged) const {
  const auto axis = axis_near(dragged.center().x());
  if (!axis) return {};
  const double bottom = value_at(shown(*axis), dragged.bottom());
  return {{shown(*axis).name,
           brush_between(shown(*axis), bottom, value_at(shown(*axis), dragged.top()))}};
}

std::optional<std::string> ParallelPicture::heading_at(QPointF at) const {
  const auto axis = axis_near(at.x());
  if (!axis || at.y() >= area().top() - 6) return std::nullopt;
  return shown(*axis).name;
}

// The axes of the parallel picture: their names, values and brushes.

void ParallelPicture::draw_axis(QPainter& painter, std::size_t axis) const {
  const double x = axis_x(axis), line = QFontMetricsF(font()).height();
  const double room = area().width() / static_cast<double>(axes_.size() - 1) - 8;
  painter.setPen(QPen(theme().text, 1.2));
  painter.drawLine(QPointF(x, area().top()), {x, area().bottom()});
  draw_brush(painter, axis);
  const bool brushed = results().filter.brushes.contains(shown(axis).name);
  painter.setPen(brushed ? theme().accent : theme().text);
  draw_label(painter, axis, area().top() - line - 4,
             QString::fromStdString(plain_name(shown(axis))), std::min(room, 150.0));
  painter.setPen(theme().faint);
  draw_labels(painter, axis);
}

// All values where there is room for them, else the lowest and the highest.
void ParallelPicture::draw_labels(QPainter& painter, std::size_t axis) const {
  const ResultColumn& column = shown(axis);
  const double line = QFontMetricsF(font()).height();
  const double room = std::min(area().width() / static_cast<double>(axes_.size() - 1) - 8, 110.0);
  const auto most = static_cast<std::size_t>(area().height() / (1.6 * line));
  std::vector<double> values = column.kinds;
  if (values.size() > std::max<std::size_t>(2, most)) values = {column.low, column.high};
  double free_below = 1e9;
  for (const double value : values) {
    const double y = level_y(level(column, value).value_or(0));
    if (y + line / 2 > free_below) continue;
    free_below = y - line / 2;
    draw_label(painter, axis, y, QString::fromStdString(column.text_of(value)), room);
  }
}

void ParallelPicture::draw_label(QPainter& painter, std::size_t axis, double middle,
                                 const QString& label, double room) const {
  const QFontMetricsF metrics(font());
  const double line = metrics.height(), x = axis_x(axis);
  const QString fitting = metrics.elidedText(label, Qt::ElideMiddle, room);
  const double wide = metrics.horizontalAdvance(fitting) + 2;
  const double left = std::clamp(x - wide / 2, 2.0, std::max(2.0, width() - wide - 2));
  QColor behind = theme().background;
  behind.setAlpha(200);
  painter.fillRect(QRectF(left - 2, middle - line / 2, wide + 4, line), behind);
  painter.drawText(QRectF(left, middle - line / 2, wide, line), Qt::AlignCenter, fitting);
}

void ParallelPicture::draw_brush(QPainter& painter, std::size_t axis) const {
  const ResultColumn& column = shown(axis);
  const auto& brushes = results().filter.brushes;
  const auto brush = brushes.find(column.name);
  if (brush == brushes.end()) return;
  QColor inside = theme().accent;
  inside.setAlpha(110);
  const double x = axis_x(axis) - kBrushWidth / 2;
  const auto height = [&](double value) { return level_y(level(column, value).value_or(0)); };
  if (column.numeric) {
    const double bottom = height(std::max(brush->second.low, column.low));
    const double top = height(std::min(brush->second.high, column.high));
    painter.fillRect(QRectF(x, top - 2, kBrushWidth, bottom - top + 4), inside);
    return;
  }
  const auto& words = brush->second.words;
  for (const double kind : column.kinds) {
    if (std::find(words.begin(), words.end(), column.text_of(kind)) == words.end()) continue;
    painter.fillRect(QRectF(x, height(kind) - kWordHeight / 2, kBrushWidth, kWordHeight), inside);
  }
}

}  // namespace strata::gui
