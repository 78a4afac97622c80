#include "gui/widgets/sweep/heat_picture.h"

#include <algorithm>
#include <cmath>

namespace strata::gui {
namespace {

constexpr int kScaleWidth = 160;

QString text_of_kind(const ResultColumn& column, double value) {
  return QString::fromStdString(column.text_of(value));
}

// White or black, whichever is read better on it.
QColor readable_on(const QColor& colour) {
  return colour.lightnessF() > 0.55F ? QColor(Qt::black) : QColor(Qt::white);
}

}  // namespace

void HeatPicture::draw(QPainter& painter) {
  map_ = {};
  const auto x = column(choice().x), y = column(choice().y), value = column(choice().series);
  if (!x || !y || !value || x == y) {
    return draw_message(painter, tr("Choose two columns for the sides and one for the colours."));
  }
  map_ = heat_map(all(), results().rows, *x, *y, *value);
  if (map_.cells.empty()) return draw_message(painter, tr("No row passes that has all three."));
  const QFontMetricsF metrics(font());
  const double line = metrics.height();
  double left = 0;
  for (const double kind : map_.ys) {
    left = std::max(left, metrics.horizontalAdvance(text_of_kind(all()[*y], kind)));
  }
  left = std::min(left, 140.0) + 14;
  const double top = line + 14;
  set_area({left, top, width() - 18 - left, height() - 2 * line - 10 - top});
  draw_cells(painter, all()[*value]);
  draw_names(painter, all()[*x], all()[*y]);
  draw_scale(painter, all()[*value]);
}

QRectF HeatPicture::cell(std::size_t x, std::size_t y) const {
  const double width = area().width() / static_cast<double>(map_.xs.size());
  const double height = area().height() / static_cast<double>(map_.ys.size());
  return {area().left() + static_cast<double>(x) * width,
          area().bottom() - static_cast<double>(y + 1) * height, width, height};
}

// Times differ by factors.
double HeatPicture::loudness(const ResultColumn& column, double value) const {
  const auto along = [logarithm = wants_logarithm(column)](double v) {
    return logarithm ? std::log(v) : v;
  };
  const double width = along(map_.high) - along(map_.low);
  const double at = width > 0 ? (along(value) - along(map_.low)) / width : 0.5;
  return more_is_better(column) ? 1 - at : at;
}

void HeatPicture::draw_cells(QPainter& painter, const ResultColumn& value) {
  const QFontMetricsF metrics(font());
  painter.setRenderHint(QPainter::Antialiasing, false);
  for (std::size_t y = 0; y < map_.ys.size(); ++y) {
    for (std::size_t x = 0; x < map_.xs.size(); ++x) {
      const HeatCell& found = map_.at(x, y);
      QRectF place = cell(x, y);
      if (place.width() > 6 && place.height() > 6) place.adjust(1, 1, -1, -1);
      if (found.count == 0) continue;
      const QColor colour = scale_colour(loudness(value, found.value), theme());
      painter.fillRect(place, colour);
      add_spot(place.center(), found.row);
      const QString text = text_of_kind(value, found.value);
      if (metrics.horizontalAdvance(text) + 6 > place.width() ||
          metrics.height() > place.height()) {
        continue;
      }
      painter.setPen(readable_on(colour));
      painter.drawText(place, Qt::AlignCenter, text);
    }
  }
  painter.setRenderHint(QPainter::Antialiasing);
}

void HeatPicture::draw_names(QPainter& painter, const ResultColumn& x,
                             const ResultColumn& y) const {
  const QFontMetricsF metrics(font());
  const double line = metrics.height();
  painter.setPen(theme().faint);
  double free_from = -1e9, free_below = 1e9;
  for (std::size_t i = 0; i < map_.xs.size(); ++i) {
    const QRectF place = cell(i, 0);
    const QString name = metrics.elidedText(text_of_kind(x, map_.xs[i]), Qt::ElideRight,
                                            std::max(place.width(), 70.0));
    const double width = metrics.horizontalAdvance(name) + 2, middle = place.center().x();
    if (middle - width / 2 < free_from) continue;
    free_from = middle + width / 2 + 6;
    painter.drawText(QRectF(middle - width / 2, area().bottom() + 3, width, line), Qt::AlignCenter,
                     name);
  }
  for (std::size_t i = 0; i < map_.ys.size(); ++i) {
    const double middle = cell(0, i).center().y(), room = area().left() - 8;
    if (middle + line / 2 > free_below) continue;
    free_below = middle - line / 2;
    painter.drawText(QRectF(0, middle - line / 2, room, line), Qt::AlignRight | Qt::AlignVCenter,
                     metrics.elidedText(text_of_kind(y, map_.ys[i]), Qt::ElideRight, room));
  }
  painter.setPen(theme().text);
  painter.drawText(QRectF(area().left(), area().bottom() + line + 4, area().width(), line),
                   Qt::AlignCenter, QString::fromStdString(plain_name(x)));
  painter.drawText(QRectF(8, 4, area().width() / 3, line), Qt::AlignLeft,
                   metrics.elidedText(QString::fromStdString(plain_name(y)), Qt::ElideRight,
                                      area().width() / 3));
}

void HeatPicture::draw_scale(QPainter& painter, const ResultColumn& value) const {
  const QFontMetricsF metrics(font());
  const QString low = text_of_kind(value, map_.low), high = text_of_kind(value, map_.high);
  const QString title =
      map_.whole
          ? tr("%1, median").arg(QString::fromStdString(plain_name(value)))
          : tr("%1, median; the first 200 values").arg(QString::fromStdString(plain_name(value)));
  const double bar_left = area().right() - metrics.horizontalAdvance(high) - 6 - kScaleWidth;
  for (int i = 0; i < kScaleWidth; ++i) {
    const double at = static_cast<double>(i) / (kScaleWidth - 1);
    painter.fillRect(QRectF(bar_left + i, 6, 1.5, metrics.height() - 4),
                     scale_colour(more_is_better(value) ? 1 - at : at, theme()));
  }
  painter.setPen(theme().text);
  painter.drawText(QPointF(bar_left + kScaleWidth + 6, 4 + metrics.ascent()), high);
  const double low_left = bar_left - metrics.horizontalAdvance(low) - 6;
  painter.drawText(QPointF(low_left, 4 + metrics.ascent()), low);
  const double room = std::max(0.0, low_left - 16 - (8 + area().width() / 3));
  painter.drawText(QRectF(low_left - 16 - room, 4, room, metrics.height()), Qt::AlignRight,
                   metrics.elidedText(title, Qt::ElideRight, room));
}

std::optional<std::pair<std::size_t, std::size_t>> HeatPicture::cell_at(QPointF at) const {
  if (map_.cells.empty() || area().isEmpty()) return std::nullopt;
  const auto place = [](double along, double length, std::size_t count) {
    const double part = std::clamp(along / length, 0.0, 0.999999);
    return static_cast<std::size_t>(part * static_cast<double>(count));
  };
  return std::pair(place(at.x() - area().left(), area().width(), map_.xs.size()),
                   place(area().bottom() - at.y(), area().height(), map_.ys.size()));
}

std::optional<std::uint32_t> HeatPicture::row_near(QPointF at) const {
  const auto place = area().contains(at) ? cell_at(at) : std::nullopt;
  if (!place || map_.at(place->first, place->second).count == 0) return std::nullopt;
  return map_.at(place->first, place->second).row;
}

std::map<std::string, Brush> HeatPicture::brushes_in(const QRectF& dragged) const {
  const auto x = column(choice().x), y = column(choice().y);
  const auto low = cell_at(dragged.bottomLeft()), high = cell_at(dragged.topRight());
  if (!x || !y || !low || !high) return {};
  return {{choice().x, brush_between(all()[*x], map_.xs[low->first], map_.xs[high->first])},
          {choice().y, brush_between(all()[*y], map_.ys[low->second], map_.ys[high->second])}};
}

}  // namespace strata::gui
