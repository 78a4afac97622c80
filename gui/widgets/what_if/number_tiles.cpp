#include "gui/widgets/what_if/number_tiles.h"

#include <QPainter>
#include <algorithm>
#include <utility>

#include "gui/widgets/theme.h"
#include "gui/widgets/what_if/curve_plot.h"

namespace strata::gui {
namespace {

constexpr double kGap = 8, kPadding = 10, kFirst = 1.8;

QString elided(const QPainter& painter, const std::string& text, double width) {
  return painter.fontMetrics().elidedText(QString::fromStdString(text), Qt::ElideRight,
                                          static_cast<int>(width));
}

// Smaller where the text has no room, unless nobody could read it.
QFont fitted(QFont font, const std::string& text, double width) {
  constexpr double kSmallest = 0.6;
  const double wanted = QFontMetricsF(font).horizontalAdvance(QString::fromStdString(text)) + 1;
  if (wanted > width) {
    font.setPointSizeF(font.pointSizeF() * std::max(kSmallest, width / wanted));
  }
  return font;
}

}  // namespace

NumberTiles::NumberTiles(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void NumberTiles::show_numbers(std::vector<Headline> numbers) {
  numbers_ = std::move(numbers);
  QStringList spoken;
  for (const Headline& number : numbers_) {
    spoken << QString::fromStdString(number.what + " " + number.value + " " + number.difference);
  }
  setAccessibleDescription(spoken.join(QStringLiteral("; ")));
  setFixedHeight(height_for(width()));
  update();
}

void NumberTiles::show_history(std::vector<double> values) {
  history_ = std::move(values);
  update();
}

QFont NumberTiles::big() const {
  QFont larger = font();
  larger.setPointSizeF(font().pointSizeF() * 1.7);
  larger.setBold(true);
  return larger;
}

int NumberTiles::tile_height() const {
  return 2 * fontMetrics().height() + QFontMetrics(big()).height() + static_cast<int>(3 * kPadding);
}

// Where all in one row would be cut off, three stand below the others.
std::size_t NumberTiles::in_first_row(int width) const {
  const std::size_t all = numbers_.size();
  const int wanted = fontMetrics().horizontalAdvance(QStringLiteral("-888.88 MB, -88.8 %")) + 20;
  return width < wanted * static_cast<int>(all + 1) ? all - std::min<std::size_t>(all - 1, 3) : all;
}

int NumberTiles::height_for(int width) const {
  const bool one_row = in_first_row(width) == numbers_.size();
  return one_row ? tile_height() : 2 * tile_height() + static_cast<int>(kGap);
}

void NumberTiles::resizeEvent(QResizeEvent* /*event*/) {
  setFixedHeight(height_for(width()));
}

QSize NumberTiles::sizeHint() const {
  return {900, height_for(900)};
}

QSize NumberTiles::minimumSizeHint() const {
  return {260, tile_height()};
}

// Where numbers would lose their units for it there is no history.
bool NumberTiles::has_history(int width) const {
  const int wanted = QFontMetrics(big()).horizontalAdvance(QStringLiteral("888.88 GB")) +
                     static_cast<int>(2 * kPadding);
  return width >= wanted * static_cast<int>(in_first_row(width) + 1);
}

// The first tile is wider: it has the history beside its number.
std::vector<QRectF> NumberTiles::tiles() const {
  const double first_part = has_history(width()) ? kFirst : 1;
  std::vector<QRectF> tiles;
  const std::size_t above = in_first_row(width());
  const double height = tile_height();
  for (std::size_t begin = 0; begin < numbers_.size(); begin = tiles.size()) {
    const std::size_t count = begin == 0 ? above : numbers_.size() - begin;
    const double units = static_cast<double>(count) + (begin == 0 ? first_part - 1 : 0);
    const double unit = (width() - kGap * static_cast<double>(count - 1)) / units;
    double x = 0;
    for (std::size_t i = 0; i < count; ++i) {
      tiles.emplace_back(x, begin == 0 ? 0 : height + kGap,
                         tiles.empty() ? unit * first_part : unit, height);
      x += tiles.back().width() + kGap;
    }
  }
  return tiles;
}

void NumberTiles::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  if (numbers_.empty()) return;
  const std::vector<QRectF> places = tiles();
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    paint_tile(painter, places[i].adjusted(0.5, 0.5, -0.5, -0.5), numbers_[i]);
  }
  if (!has_history(width())) return;
  const QRectF& tile = places.front();
  paint_history(painter, QRectF(tile.left() + tile.width() * 0.52, tile.top() + kPadding,
                                tile.width() * 0.48 - kPadding, tile.height() - 2 * kPadding));
}

void NumberTiles::paint_tile(QPainter& painter, const QRectF& tile, const Headline& number) const {
  const Theme theme = theme_of(palette());
  painter.setPen(theme.grid);
  painter.setBrush(theme.background);
  painter.drawRoundedRect(tile, 5, 5);
  const bool first = &number == &numbers_.front();
  const bool beside = first && has_history(this->width());
  const double width = (beside ? tile.width() * 0.52 : tile.width()) - 2 * kPadding;
  QRectF line(tile.left() + kPadding, tile.top() + kPadding, width, fontMetrics().height());
  painter.setFont(font());
  painter.setPen(theme.faint);
  painter.drawText(line, Qt::AlignLeft, elided(painter, number.what, width));
  painter.setFont(fitted(big(), number.value, width));
  line = {line.left(), line.bottom() + kPadding / 2, width,
          static_cast<double>(QFontMetrics(big()).height())};
  painter.setPen(number.wrong ? theme.bad : theme.text);
  painter.drawText(line, Qt::AlignLeft, elided(painter, number.value, width));
  painter.setFont(font());
  line = {line.left(), line.bottom() + kPadding / 2, width,
          static_cast<double>(fontMetrics().height())};
  painter.setPen(number.wrong || number.change > 0 ? theme.bad
                 : number.change < 0               ? theme.good
                                                   : theme.faint);
  painter.drawText(line, Qt::AlignLeft, elided(painter, number.difference, width));
}

void NumberTiles::paint_history(QPainter& painter, const QRectF& area) const {
  if (history_.size() < 2) return;
  const Theme theme = theme_of(palette());
  const auto [least, most] = std::minmax_element(history_.begin(), history_.end());
  const double low = *least, high = std::max(*most, low * (1 + 1e-9));
  const auto at = [&](std::size_t i) {
    const double x = static_cast<double>(i) / static_cast<double>(history_.size() - 1);
    return QPointF(area.left() + x * area.width(),
                   area.bottom() - (history_[i] - low) / (high - low) * area.height());
  };
  QPainterPath line(at(0));
  for (std::size_t i = 1; i < history_.size(); ++i) line.lineTo(at(i));
  paint_filled(painter, line, area.bottom(), QPen(theme.accent, 1.5), 0.15);
  painter.drawEllipse(at(history_.size() - 1), 2.5, 2.5);
}

}  // namespace strata::gui
