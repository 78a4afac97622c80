#include "gui/widgets/legend.h"

#include <algorithm>
#include <utility>

namespace strata::gui {
namespace {

constexpr int kLegendSquare = 11, kLegendMargin = 8, kLegendBetween = 14;
constexpr int kLegendStroke = 24, kLegendScale = 80, kLegendAside = 5;

}  // namespace

Legend::Legend(std::vector<LegendEntry> entries, QWidget* parent)
    : QWidget(parent), entries_(std::move(entries)) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

int Legend::width_of(const LegendEntry& entry) const {
  return kLegendSquare + 5 + fontMetrics().horizontalAdvance(entry.text) + 2;
}

std::vector<QRect> Legend::places(int width) const {
  std::vector<QRect> places;
  int x = kLegendMargin, y = 0;
  for (const LegendEntry& entry : entries_) {
    const int own = width_of(entry);
    if (x > kLegendMargin && x + own > width - kLegendMargin) {
      x = kLegendMargin;
      y += line_height();
    }
    places.emplace_back(x, y, own, line_height());
    x += own + kLegendBetween;
  }
  return places;
}

int Legend::heightForWidth(int width) const {
  const auto all = places(width);
  return all.empty() ? 0 : all.back().bottom() + 1;
}

QSize Legend::sizeHint() const {
  int width = 2 * kLegendMargin - kLegendBetween;
  for (const LegendEntry& entry : entries_) width += width_of(entry) + kLegendBetween;
  return {width, line_height()};
}

QSize Legend::minimumSizeHint() const {
  int width = 0;
  for (const LegendEntry& entry : entries_) width = std::max(width, width_of(entry));
  return {width + 2 * kLegendMargin, line_height()};
}

void Legend::set_entries(std::vector<LegendEntry> entries) {
  entries_ = std::move(entries);
  updateGeometry();
  update();
}

void Legend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paint(painter, width());
}

void Legend::paint(QPainter& painter, int width) const {
  const Theme theme = theme_of(palette());
  const std::vector<QRect> all = places(width);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const QRect& place = all[i];
    painter.fillRect(
        QRect(place.left(), place.center().y() - kLegendSquare / 2, kLegendSquare, kLegendSquare),
        QBrush(entries_[i].colour(theme), entries_[i].pattern));
    painter.setPen(theme.text);
    painter.drawText(place.adjusted(kLegendSquare + 5, 0, 2, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     entries_[i].text);
  }
}

LegendLine::LegendLine(QPainter& painter, const QRectF& line, const Theme& theme)
    : painter_(painter), room_(line.adjusted(kLegendMargin, 0, -kLegendMargin, 0)), theme_(theme) {
  painter_.fillRect(line, theme.background);
}

double LegendLine::width_of(const QString& text) const {
  return text.isEmpty() ? 0 : painter_.fontMetrics().horizontalAdvance(text) + 2;
}

QRectF LegendLine::take(double sign, const QString& text, const QColor& colour) {
  const double aside = sign > 0 && !text.isEmpty() ? kLegendAside : 0;
  const double all = sign + aside + width_of(text);
  const QRectF place(room_.left(), room_.center().y() - kLegendSquare / 2.0, sign, kLegendSquare);
  if (all > room_.width()) {
    room_.setWidth(0);
    return {};
  }
  painter_.setPen(colour);
  painter_.drawText(room_.adjusted(sign + aside, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, text);
  room_.setLeft(room_.left() + all + kLegendBetween);
  return place;
}

void LegendLine::words(const QString& text) {
  take(0, text, theme_.faint);
}

void LegendLine::square(const QColor& colour, const QString& text) {
  const QRectF place = take(kLegendSquare, text, theme_.text);
  if (!place.isEmpty()) painter_.fillRect(place, colour);
}

void LegendLine::stroke(const QPen& pen, const QString& text) {
  const QRectF place = take(kLegendStroke, text, theme_.text);
  if (place.isEmpty()) return;
  painter_.setPen(pen);
  painter_.drawLine(QLineF(place.left(), place.center().y(), place.right(), place.center().y()));
}

void LegendLine::scale(const std::function<QColor(double)>& colour, const QString& from,
                       const QString& to) {
  const double before = width_of(from) + kLegendAside;
  const QRectF all = take(before + kLegendScale, to, theme_.text);
  if (all.isEmpty()) return;
  painter_.setPen(theme_.text);
  painter_.drawText(all.adjusted(0, -kLegendSquare, 0, kLegendSquare),
                    Qt::AlignLeft | Qt::AlignVCenter, from);
  for (int i = 0; i < kLegendScale; ++i) {
    painter_.fillRect(QRectF(all.left() + before + i, all.top(), 1.5, all.height()),
                      colour((i + 0.5) / kLegendScale));
  }
}

}  // namespace strata::gui
