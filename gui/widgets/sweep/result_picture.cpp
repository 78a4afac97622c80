#include "gui/widgets/sweep/result_picture.h"

#include <algorithm>
#include <cmath>

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

}  // namespace strata::gui
