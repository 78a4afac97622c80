#include "gui/widgets/sweep/result_picture.h"

#include <algorithm>

namespace strata::gui {
namespace {

constexpr double kNear = 14;  // pixels that the mouse may be off

}  // namespace

void ResultPicture::paint(QPainter& painter) {
  painter.setFont(font());
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(QRectF(QPointF(), QSizeF(sketch_.size)), theme().background);
  if (all().rows() > 0) return draw(painter);
  draw_message(painter, tr("No rows yet. S starts a sweep; they appear as they come."));
}

QImage ResultPicture::image(double ratio) {
  QImage image(sketch_.size * ratio, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(ratio);
  QPainter painter(&image);
  paint(painter);
  return image;
}

std::optional<QPointF> ResultPicture::spot_of(std::uint32_t row) const {
  const auto at =
      std::find_if(spots_.begin(), spots_.end(), [&](const Spot& spot) { return spot.row == row; });
  if (at == spots_.end()) return std::nullopt;
  return at->at;
}

std::vector<std::uint32_t> ResultPicture::rows_in_order() const {
  std::vector<std::uint32_t> rows;
  for (const Spot& spot : spots_) rows.push_back(spot.row);
  return rows;
}

std::optional<std::uint32_t> ResultPicture::row_near(QPointF at) const {
  std::optional<std::uint32_t> nearest;
  double best = kNear * kNear;
  for (const Spot& spot : spots_) {
    const QPointF off = spot.at - at;
    const double distance = QPointF::dotProduct(off, off);
    if (distance >= best) continue;
    best = distance;
    nearest = spot.row;
  }
  return nearest;
}

std::vector<std::uint32_t> ResultPicture::held_back() const {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < all().rows(); ++row) {
    if (sketch_.shown[row] == 0) rows.push_back(row);
  }
  return rows;
}

void ResultPicture::draw_x_ticks(QPainter& painter, const ChartAxis& x) const {
  const QFontMetricsF metrics(font());
  const double line = metrics.height();
  double free_from = -1e9;
  for (const AxisTick& tick : x.ticks()) {
    painter.setPen(theme().grid);
    if (!x.words()) painter.drawLine(QPointF(tick.at, area_.top()), {tick.at, area_.bottom()});
    const QString label =
        metrics.elidedText(QString::fromStdString(tick.label), Qt::ElideRight, 120);
    const double width = metrics.horizontalAdvance(label);
    if (tick.at - width / 2 < free_from) continue;
    free_from = tick.at + width / 2 + line / 2;
    painter.setPen(theme().faint);
    painter.drawText(QRectF(tick.at - width / 2 - 1, area_.bottom() + 3, width + 2, line),
                     Qt::AlignCenter, label);
  }
}

void ResultPicture::draw_y_ticks(QPainter& painter, const ChartAxis& y) const {
  const QFontMetricsF metrics(font());
  const double line = metrics.height();
  double free_below = 1e9;
  for (const AxisTick& tick : y.ticks()) {
    painter.setPen(theme().grid);
    painter.drawLine(QPointF(area_.left(), tick.at), {area_.right(), tick.at});
    if (tick.at + line / 2 > free_below) continue;
    free_below = tick.at - line / 2;
    painter.setPen(theme().faint);
    const double room = area_.left() - 8;
    painter.drawText(QRectF(0, tick.at - line / 2, room, line), Qt::AlignRight | Qt::AlignVCenter,
                     metrics.elidedText(QString::fromStdString(tick.label), Qt::ElideMiddle, room));
  }
}

void ResultPicture::draw_axes(QPainter& painter, const ChartAxis& x, const ChartAxis& y) const {
  draw_x_ticks(painter, x);
  draw_y_ticks(painter, y);
  const double line = QFontMetricsF(font()).height();
  painter.setPen(theme().text);
  painter.drawText(QRectF(area_.left(), area_.bottom() + line + 4, area_.width(), line),
                   Qt::AlignCenter, QString::fromStdString(x.title()));
  painter.drawText(QRectF(8, 4, area_.width(), line), Qt::AlignLeft,
                   QString::fromStdString(y.title()));
}

void ResultPicture::draw_legend(QPainter& painter, const ResultColumn& column,
                                const std::vector<double>& kinds) const {
  const QFontMetricsF metrics(font());
  const double line = metrics.height(), square = line * 0.6;
  double right = area_.right();
  const double most = area_.width() * 0.7;
  for (std::size_t i = kinds.size(); i-- > 0;) {
    const QString name =
        metrics.elidedText(QString::fromStdString(column.text_of(kinds[i])), Qt::ElideRight, 140);
    const double width = metrics.horizontalAdvance(name) + square + 6;
    if (area_.right() - right + width > most) {
      painter.setPen(theme().faint);
      painter.drawText(QPointF(right - metrics.horizontalAdvance(u'…'), 4 + metrics.ascent()),
                       QStringLiteral("…"));
      break;
    }
    right -= width;
    painter.setPen(Qt::NoPen);
    painter.setBrush(category_colour(column.kind_of(kinds[i]), theme()));
    painter.drawRoundedRect(QRectF(right, 4 + (line - square) / 2, square, square), 2, 2);
    painter.setPen(theme().text);
    painter.drawText(QPointF(right + square + 4, 4 + metrics.ascent()), name);
    right -= line * 0.7;
  }
}

void ResultPicture::draw_message(QPainter& painter, const QString& text) const {
  painter.setPen(theme().faint);
  painter.drawText(QRectF(24, 8, width() - 48, height() - 16), Qt::AlignCenter | Qt::TextWordWrap,
                   text);
}

}  // namespace strata::gui
