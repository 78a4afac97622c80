#include "gui/widgets/sweep/heat_picture.h"

#include <algorithm>
#include <cmath>

#include "gui/models/text.h"

namespace strata::gui {
namespace {

QString text_of_kind(const ResultColumn& column, double value) {
  return QString::fromStdString(column.text_of(value));
}

// White or black, whichever is read better on it.
QColor readable_on(const QColor& colour) {
  return colour.lightnessF() > 0.55F ? QColor(Qt::black) : QColor(Qt::white);
}

}  // namespace

void HeatPicture::lay_out() {
  const auto x = column(choice().x), y = column(choice().y), value = column(choice().series);
  if (!x || !y || !value || x == y) {
    return say(tr("Choose two columns for the sides and one for the colours."));
  }
  x_ = *x, y_ = *y, value_ = *value;
  map_ = heat_map(all(), results().rows, x_, y_, value_);
  if (map_.cells.empty()) {
    return say(tr("No row passes that has all three columns. Esc lets all pass again."));
  }
  const QFontMetricsF metrics(font());
  const double line = metrics.height();
  std::vector<std::string> names;
  for (const double kind : map_.ys) names.push_back(up().text_of(kind));
  const double left = name_room(metrics, names), top = line + 14;
  set_area({left, top, width() - 18 - left, height() - 2 * line - 10 - top});
  for (std::size_t i = 0; i < map_.cells.size(); ++i) {
    if (map_.cells[i].count == 0) continue;
    add_spot(cell(i % map_.xs.size(), i / map_.xs.size()).center(), map_.cells[i].row);
  }
  footnote_ = mixed_text(all(), mixed_settings(all(), results().rows, x_, y_));
  if (!map_.whole) footnote_ = tr("the first 200 values; ") + footnote_;
}

QRectF HeatPicture::cell(std::size_t x, std::size_t y) const {
  const double width = area().width() / static_cast<double>(map_.xs.size());
  const double height = area().height() / static_cast<double>(map_.ys.size());
  return {area().left() + static_cast<double>(x) * width,
          area().bottom() - static_cast<double>(y + 1) * height, width, height};
}

// Times differ by factors.
double HeatPicture::loudness(double shown) const {
  const auto along = [logarithm = wants_logarithm(value())](double v) {
    return logarithm ? std::log(v) : v;
  };
  const double width = along(map_.high) - along(map_.low);
  const double at = width > 0 ? (along(shown) - along(map_.low)) / width : 0.5;
  return more_is_better(value()) ? 1 - at : at;
}

void HeatPicture::draw(QPainter& painter) const {
  painter.setRenderHint(QPainter::Antialiasing, false);
  for (std::size_t y = 0; y < map_.ys.size(); ++y) {
    for (std::size_t x = 0; x < map_.xs.size(); ++x) draw_cell(painter, x, y);
  }
  painter.setRenderHint(QPainter::Antialiasing);
  draw_names_below(painter);
  draw_names_beside(painter);
  draw_footnote(painter, footnote_, QString::fromStdString(plain_name(across())));
  draw_shades(painter, value(), map_.low, map_.high, more_is_better(value()));
}

void HeatPicture::draw_cell(QPainter& painter, std::size_t x, std::size_t y) const {
  const HeatCell& found = map_.at(x, y);
  if (found.count == 0) return;
  QRectF place = cell(x, y);
  if (place.width() > 6 && place.height() > 6) place.adjust(1, 1, -1, -1);
  const QColor colour = scale_colour(loudness(found.value), theme());
  painter.fillRect(place, colour);
  const QFontMetricsF metrics(font());
  const QString text = text_of_kind(value(), found.value);
  if (metrics.horizontalAdvance(text) + 6 > place.width() || metrics.height() > place.height()) {
    return;
  }
  painter.setPen(readable_on(colour));
  painter.drawText(place, Qt::AlignCenter, text);
}

void HeatPicture::draw_names_below(QPainter& painter) const {
  const QFontMetricsF metrics(font());
  const double line = metrics.height();
  painter.setPen(theme().faint);
  double free_from = -1e9;
  for (std::size_t i = 0; i < map_.xs.size(); ++i) {
    const QRectF place = cell(i, 0);
    const QString name = metrics.elidedText(text_of_kind(across(), map_.xs[i]), Qt::ElideRight,
                                            std::max(place.width(), 70.0));
    const double width = metrics.horizontalAdvance(name) + 2, middle = place.center().x();
    if (middle - width / 2 < free_from) continue;
    free_from = middle + width / 2 + 6;
    painter.drawText(QRectF(middle - width / 2, area().bottom() + 3, width, line), Qt::AlignCenter,
                     name);
  }
  painter.setPen(theme().text);
  painter.drawText(QRectF(area().left(), area().bottom() + line + 4, area().width(), line),
                   Qt::AlignCenter, QString::fromStdString(plain_name(across())));
}

void HeatPicture::draw_names_beside(QPainter& painter) const {
  const QFontMetricsF metrics(font());
  const double line = metrics.height(), room = area().left() - 8;
  painter.setPen(theme().faint);
  double free_below = 1e9;
  for (std::size_t i = 0; i < map_.ys.size(); ++i) {
    const double middle = cell(0, i).center().y();
    if (middle + line / 2 > free_below) continue;
    free_below = middle - line / 2;
    painter.drawText(QRectF(0, middle - line / 2, room, line), Qt::AlignRight | Qt::AlignVCenter,
                     metrics.elidedText(text_of_kind(up(), map_.ys[i]), Qt::ElideRight, room));
  }
  painter.setPen(theme().text);
  const double wide = area().right() * 0.3;
  painter.drawText(
      QRectF(8, 4, wide, line), Qt::AlignLeft,
      metrics.elidedText(QString::fromStdString(plain_name(up())), Qt::ElideRight, wide));
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

QString HeatPicture::note_at(QPointF at) const {
  const auto place = area().contains(at) ? cell_at(at) : std::nullopt;
  if (!place || map_.at(place->first, place->second).count < 2) return {};
  return tr("the median of %1").arg(counted(map_.at(place->first, place->second).count, tr("row")));
}

std::map<std::string, Brush> HeatPicture::brushes_in(const QRectF& dragged) const {
  const auto low = cell_at(dragged.bottomLeft()), high = cell_at(dragged.topRight());
  if (!low || !high) return {};
  return {{choice().x, brush_between(across(), map_.xs[low->first], map_.xs[high->first])},
          {choice().y, brush_between(up(), map_.ys[low->second], map_.ys[high->second])}};
}

}  // namespace strata::gui
