#include "gui/widgets/legend.h"

#include <QPainter>
#include <algorithm>
#include <utility>

namespace strata::gui {
namespace {

constexpr int kLegendSquare = 11, kLegendMargin = 8, kLegendBetween = 14;

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
        entries_[i].colour(theme));
    painter.setPen(theme.text);
    painter.drawText(place.adjusted(kLegendSquare + 5, 0, 2, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     entries_[i].text);
  }
}

}  // namespace strata::gui
