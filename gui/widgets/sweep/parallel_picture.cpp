#include "gui/widgets/sweep/parallel_picture.h"

#include <algorithm>
#include <cmath>

namespace strata::gui {
namespace {

constexpr std::size_t kMostAxes = 12;
constexpr std::size_t kMostStrokes = 2500;  // between two axes
constexpr std::size_t kSmoothStrokes = 400;
constexpr double kBrushWidth = 12;

}  // namespace

void ParallelPicture::draw(QPainter& painter) {
  axes_ = usual_axes(all());
  if (axes_.size() > kMostAxes) axes_.resize(kMostAxes);
  if (axes_.size() < 2) return draw_message(painter, tr("Nothing varies between these rows."));
  const double line = QFontMetricsF(font()).height();
  set_area(QRectF(70, 2 * line + 20, width() - 140, height() - 4 * line - 26));
  if (results().rows.size() < all().rows()) {
    draw_strokes(painter, held_back(), true);
  }
  draw_strokes(painter, results().rows, false);
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) draw_axis(painter, axis);
  if (const auto series = column(choice().series)) {
    draw_legend(painter, all()[*series], all()[*series].kinds);
  }
  const ResultColumn& last = all()[axes_.back()];
  for (const std::uint32_t row : results().rows) {
    const auto at = level(last, last.values[row]);
    if (at && results().rows.size() <= kMostPoints) {
      add_spot({axis_x(axes_.size() - 1), level_y(*at)}, row);
    }
  }
}

double ParallelPicture::axis_x(std::size_t axis) const {
  return area().left() +
         area().width() * static_cast<double>(axis) / static_cast<double>(axes_.size() - 1);
}

double ParallelPicture::level_y(float at) const {
  return area().bottom() - area().height() * static_cast<double>(at);
}

// Strokes of more rows are stronger.
void ParallelPicture::draw_strokes(QPainter& painter, const std::vector<std::uint32_t>& rows,
                                   bool faint) const {
  const auto series = column(choice().series);
  for (std::size_t axis = 0; axis + 1 < axes_.size(); ++axis) {
    const auto drawn = strokes(all(), rows, axes_[axis], axes_[axis + 1], series, kMostStrokes);
    painter.setRenderHint(QPainter::Antialiasing, drawn.size() <= kSmoothStrokes);
    const std::size_t most = drawn.empty() ? 1 : drawn.back().count;
    for (const Stroke& stroke : drawn) {
      QColor colour = faint ? theme().grid : category_colour(stroke.colour, theme());
      const double share = static_cast<double>(stroke.count) / static_cast<double>(most);
      if (!faint) colour.setAlphaF(static_cast<float>(0.35 + 0.5 * share));
      painter.setPen(QPen(colour, faint || drawn.size() > kSmoothStrokes ? 1 : 1 + 2 * share));
      painter.drawLine(QPointF(axis_x(axis), level_y(stroke.from)),
                       QPointF(axis_x(axis + 1), level_y(stroke.to)));
    }
  }
  painter.setRenderHint(QPainter::Antialiasing);
}

void ParallelPicture::draw_axis(QPainter& painter, std::size_t axis) const {
  const ResultColumn& shown = all()[axes_[axis]];
  const QFontMetricsF metrics(font());
  const double x = axis_x(axis), line = metrics.height();
  const double room = area().width() / static_cast<double>(axes_.size() - 1) - 10;
  painter.setPen(QPen(theme().text, 1.2));
  painter.drawLine(QPointF(x, area().top()), {x, area().bottom()});
  draw_brush(painter, axis);
  const auto text = [&](double middle, const QString& label, double wide) {
    const QString fitting = metrics.elidedText(label, Qt::ElideMiddle, wide);
    const double width = metrics.horizontalAdvance(fitting) + 2;
    const double left = std::clamp(x - width / 2, 2.0, std::max(2.0, this->width() - width - 2));
    QColor behind = theme().background;
    behind.setAlpha(200);
    painter.fillRect(QRectF(left - 2, middle - line / 2, width + 4, line), behind);
    painter.drawText(QRectF(left, middle - line / 2, width, line), Qt::AlignCenter, fitting);
  };
  painter.setPen(theme().text);
  text(area().top() - line - 4, QString::fromStdString(plain_name(shown)), std::min(room, 150.0));
  painter.setPen(theme().faint);
  const std::size_t most = static_cast<std::size_t>(area().height() / (1.6 * line));
  if (shown.kinds.size() <= std::max<std::size_t>(2, most)) {
    double free_below = 1e9;
    for (const double kind : shown.kinds) {
      const double y = level_y(level(shown, kind).value_or(0));
      if (y + line / 2 > free_below) continue;
      free_below = y - line / 2;
      text(y, QString::fromStdString(shown.text_of(kind)), std::min(room, 110.0));
    }
    return;
  }
  text(area().top(), QString::fromStdString(shown.text_of(shown.high)), std::min(room, 110.0));
  text(area().bottom(), QString::fromStdString(shown.text_of(shown.low)), std::min(room, 110.0));
}

void ParallelPicture::draw_brush(QPainter& painter, std::size_t axis) const {
  const ResultColumn& shown = all()[axes_[axis]];
  const auto& brushes = results().filter.brushes;
  const auto brush = brushes.find(shown.name);
  if (brush == brushes.end()) return;
  QColor inside = theme().accent;
  inside.setAlpha(110);
  const double x = axis_x(axis) - kBrushWidth / 2;
  if (!shown.numeric) {
    for (const double kind : shown.kinds) {
      const auto& words = brush->second.words;
      if (std::find(words.begin(), words.end(), shown.text_of(kind)) == words.end()) continue;
      painter.fillRect(QRectF(x, level_y(level(shown, kind).value_or(0)) - 8, kBrushWidth, 16),
                       inside);
    }
    return;
  }
  const double low = std::max(brush->second.low, shown.low);
  const double high = std::min(brush->second.high, shown.high);
  const double bottom = level_y(level(shown, low).value_or(0));
  const double top = level_y(level(shown, high).value_or(1));
  painter.fillRect(QRectF(x, top - 2, kBrushWidth, bottom - top + 4), inside);
}

double ParallelPicture::value_at(const ResultColumn& shown, double y) const {
  const double part = (area().bottom() - y) / area().height();
  if (!wants_logarithm(shown)) return shown.low + part * (shown.high - shown.low);
  return std::exp(std::log(shown.low) + part * (std::log(shown.high) - std::log(shown.low)));
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
  const ResultColumn& shown = all()[axes_[*axis]];
  return {{shown.name, brush_between(shown, value_at(shown, dragged.bottom()),
                                     value_at(shown, dragged.top()))}};
}

std::optional<std::string> ParallelPicture::heading_at(QPointF at) const {
  const auto axis = axis_near(at.x());
  if (!axis || at.y() >= area().top() - 6) return std::nullopt;
  return all()[axes_[*axis]].name;
}

}  // namespace strata::gui
