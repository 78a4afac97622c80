#include "gui/widgets/sweep/result_picture.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/models/sweep/result_chart.h"

namespace strata::gui {
namespace {

constexpr double kNear = 14;  // pixels that the mouse may be off
constexpr double kMarkRadius = 7;

// The strategies that everybody knows share their four colours with no other.
std::size_t colour_number(const std::string& column, std::size_t kind) {
  constexpr std::size_t kKnown = 4, kColours = 10;
  if (column != "strategy" || kind < kColours) return kind;
  return kKnown + (kind - kKnown) % (kColours - kKnown);
}

constexpr int kShadesWidth = 120;
constexpr double kLegendShare = 0.68;  // of the width; the rest is the title's

}  // namespace

void ResultPicture::arrange() {
  if (all().rows() > 0) return lay_out();
  say(sketch_.why_empty);
}

void ResultPicture::paint(QPainter& painter) const {
  painter.setFont(font());
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(QRectF(QPointF(), QSizeF(sketch_.size)), theme().background);
  all().rows() > 0 && message_.isEmpty() ? draw(painter) : draw_message(painter);
}

QImage ResultPicture::image(double ratio) const {
  QImage image(sketch_.size * ratio, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(ratio);
  QPainter painter(&image);
  paint(painter);
  return image;
}

void ResultPicture::mark(QPainter& painter, std::uint32_t row) const {
  const auto at = spot_of(row);
  if (!at) return;
  painter.setPen(QPen(theme().text, 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawEllipse(*at, kMarkRadius, kMarkRadius);
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
  auto passing = sketch_.rows.begin();
  for (std::uint32_t row = 0; row < all().rows(); ++row) {
    const bool passes = passing != sketch_.rows.end() && *passing == row;
    passes ? static_cast<void>(++passing) : rows.push_back(row);
  }
  return rows;
}

bool ResultPicture::shaded(const ResultColumn& series) {
  constexpr std::size_t kColours = 10;
  return series.numeric && series.kinds.size() > kColours;
}

QColor ResultPicture::colour_of(std::optional<std::size_t> series, double value) const {
  if (!series) return category_colour(0, theme());
  const ResultColumn& column = all()[*series];
  if (!std::isfinite(value)) return theme().faint;
  if (shaded(column)) return scale_colour(level(column, value).value_or(0), theme());
  return category_colour(colour_number(column.name, column.kind_of(value)), theme());
}

void ResultPicture::draw_message(QPainter& painter) const {
  painter.setPen(theme().faint);
  painter.drawText(QRectF(24, 8, width() - 48, height() - 16), Qt::AlignCenter | Qt::TextWordWrap,
                   message_);
}

double name_room(const QFontMetricsF& metrics, const std::vector<std::string>& names) {
  constexpr double kMost = 140, kBeside = 14;
  double room = 0;
  for (const std::string& name : names) {
    room = std::max(room, metrics.horizontalAdvance(QString::fromStdString(name)));
  }
  return std::min(room, kMost) + kBeside;
}

QString mixed_text(const ResultSet& results, const std::vector<std::size_t>& columns) {
  QStringList names;
  for (const std::size_t column : columns) {
    names << QString::fromStdString(plain_name(results[column]));
  }
  if (names.isEmpty()) return {};
  return QCoreApplication::translate("strata::gui::ResultPicture", "median over %1")
      .arg(names.join(QStringLiteral(", ")));
}

// What stands around the area of a chart: grid, ticks, titles, legend.

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
    const double left = std::min(tick.at - width / 2, this->width() - width - 2);
    if (left < free_from) continue;
    free_from = left + width + line / 2;
    painter.setPen(theme().faint);
    painter.drawText(QRectF(left - 1, area_.bottom() + 3, width + 2, line), Qt::AlignCenter, label);
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

void ResultPicture::draw_axes(QPainter& painter, const ChartAxis& x, const ChartAxis& y,
                              const QString& x_title, const QString& y_title) const {
  draw_x_ticks(painter, x);
  draw_y_ticks(painter, y);
  const QFontMetricsF metrics(font());
  const double line = metrics.height(), room = area_.right() * (1 - kLegendShare) - 16;
  painter.setPen(theme().text);
  painter.drawText(QRectF(area_.left(), area_.bottom() + line + 4, area_.width(), line),
                   Qt::AlignCenter, x_title);
  painter.drawText(QRectF(8, 4, room, line), Qt::AlignLeft,
                   metrics.elidedText(y_title, Qt::ElideRight, room));
}

void ResultPicture::draw_footnote(QPainter& painter, const QString& text,
                                  const QString& x_title) const {
  const QFontMetricsF metrics(font());
  const double title_end = area_.center().x() + metrics.horizontalAdvance(x_title) / 2 + 12;
  const QRectF place(title_end, area_.bottom() + metrics.height() + 4, area_.right() - title_end,
                     metrics.height());
  painter.setPen(theme().faint);
  painter.drawText(place, Qt::AlignRight, metrics.elidedText(text, Qt::ElideRight, place.width()));
}

// As many as there is room for, as far to the right as they reach.
void ResultPicture::draw_legend(QPainter& painter, std::size_t series,
                                std::vector<double> kinds) const {
  const ResultColumn& column = all()[series];
  if (shaded(column)) return draw_shades(painter, column, column.low, column.high, false);
  std::sort(kinds.begin(), kinds.end(),
            [&](double a, double b) { return column.kind_of(a) < column.kind_of(b); });
  const QFontMetricsF metrics(font());
  const double line = metrics.height(), square = line * 0.6, gap = line * 0.7;
  double room = area_.right() * kLegendShare - line;
  std::vector<std::pair<double, QString>> shown;
  for (const double kind : kinds) {
    const QString name =
        metrics.elidedText(QString::fromStdString(column.text_of(kind)), Qt::ElideRight, 140);
    room -= metrics.horizontalAdvance(name) + square + 4 + gap;
    if (room < 0) break;
    shown.emplace_back(kind, name);
  }
  double right = area_.right();
  if (shown.size() < kinds.size()) {
    right -= line;
    painter.setPen(theme().faint);
    painter.drawText(QPointF(right, 4 + metrics.ascent()), QStringLiteral("…"));
    right -= gap / 2;
  }
  std::reverse(shown.begin(), shown.end());
  for (const auto& [name, words] : shown) {
    right -= metrics.horizontalAdvance(words) + square + 4;
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour_of(series, name));
    painter.drawRoundedRect(QRectF(right, 4 + (line - square) / 2, square, square), 2, 2);
    painter.setPen(theme().text);
    painter.drawText(QPointF(right + square + 4, 4 + metrics.ascent()), words);
    right -= gap;
  }
}

void ResultPicture::draw_shades(QPainter& painter, const ResultColumn& column, double low,
                                double high, bool turned) const {
  const QFontMetricsF metrics(font());
  const QString least = QString::fromStdString(column.text_of(low));
  const QString most = QString::fromStdString(column.text_of(high));
  const double bar = area_.right() - metrics.horizontalAdvance(most) - 6 - kShadesWidth;
  for (int i = 0; i < kShadesWidth; ++i) {
    const double at = static_cast<double>(i) / (kShadesWidth - 1);
    painter.fillRect(QRectF(bar + i, 6, 1.5, metrics.height() - 4),
                     scale_colour(turned ? 1 - at : at, theme()));
  }
  painter.setPen(theme().text);
  painter.drawText(QPointF(bar + kShadesWidth + 6, 4 + metrics.ascent()), most);
  const double left = bar - metrics.horizontalAdvance(least) - 6;
  painter.drawText(QPointF(left, 4 + metrics.ascent()), least);
  const double room = std::max(0.0, left - 12 - area_.right() * (1 - kLegendShare));
  const QString title = QString::fromStdString(plain_name(column));
  painter.drawText(QRectF(left - 12 - room, 4, room, metrics.height()), Qt::AlignRight,
                   metrics.elidedText(title, Qt::ElideRight, room));
}

}  // namespace strata::gui
