#include "gui/widgets/what_if/number_tiles.h"

#include <QPainter>
#include <algorithm>
#include <utility>

#include "gui/widgets/theme.h"
#include "gui/widgets/what_if/curve_plot.h"

namespace strata::gui {
namespace {

constexpr double kGap = 8, kPadding = 10, kFirst = 1.8;
constexpr double kNarrow = 120;  // pixels of a tile that has less beside its text

double padding(const QRectF& tile) {
  return tile.width() < kNarrow ? kPadding / 2 : kPadding;
}

QString elided(const QPainter& painter, const std::string& text, double width) {
  return painter.fontMetrics().elidedText(QString::fromStdString(text), Qt::ElideRight,
                                          static_cast<int>(width));
}

// Smaller where the text has no room, unless nobody could read it. Letters come in whole pixels: a
// text is not as much narrower as its font is smaller.
QFont fitted(QFont font, const std::string& text, double width) {
  constexpr double kSmallest = 0.6, kStep = 0.95;
  const double least = font.pointSizeF() * kSmallest;
  const QString shown = QString::fromStdString(text);
  while (QFontMetricsF(font).horizontalAdvance(shown) + 1 > width && font.pointSizeF() > least) {
    font.setPointSizeF(std::max(font.pointSizeF() * kStep, least));
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

// All in one row, or three: what is left over stands in the first row.
std::vector<std::size_t> NumberTiles::rows_for(int width) const {
  const std::size_t all = numbers_.size();
  const int whole = fontMetrics().horizontalAdvance(QStringLiteral("-888.88 MB, -88.8 %")) + 20;
  const bool one = width >= whole * static_cast<int>(all + 1);
  const std::size_t columns = one ? std::max<std::size_t>(all, 1) : 3;
  std::vector<std::size_t> rows;
  if (all % columns > 0) rows.push_back(all % columns);
  rows.resize(rows.size() + all / columns, columns);
  return rows;
}

int NumberTiles::height_for(int width) const {
  const auto rows = static_cast<int>(std::max<std::size_t>(rows_for(width).size(), 1));
  return rows * tile_height() + (rows - 1) * static_cast<int>(kGap);
}

void NumberTiles::resizeEvent(QResizeEvent* /*event*/) {
  setFixedHeight(height_for(width()));
}

QSize NumberTiles::sizeHint() const {
  return {900, height_for(900)};
}

QSize NumberTiles::minimumSizeHint() const {
  return {200, tile_height()};
}

// Where numbers would lose their units for it there is no history.
bool NumberTiles::has_history(int width) const {
  const int wanted = QFontMetrics(big()).horizontalAdvance(QStringLiteral("888 ms")) +
                     static_cast<int>(2 * kPadding);
  return width >= wanted * static_cast<int>(rows_for(width).front() + 1);
}

// The first tile is wider: it has the history beside its number.
std::vector<QRectF> NumberTiles::tiles() const {
  const double first = has_history(width()) ? kFirst : 1;
  std::vector<QRectF> tiles;
  const double height = tile_height();
  double y = 0;
  for (const std::size_t count : rows_for(width())) {
    const double units = static_cast<double>(count) + (tiles.empty() ? first - 1 : 0);
    const double unit = (width() - kGap * static_cast<double>(count - 1)) / units;
    double x = 0;
    for (std::size_t i = 0; i < count; ++i) {
      tiles.emplace_back(x, y, tiles.empty() ? unit * first : unit, height);
      x += tiles.back().width() + kGap;
    }
    y += height + kGap;
  }
  return tiles;
}

// The history has what the number leaves.
double NumberTiles::text_width(const QRectF& tile, const Headline& number) const {
  constexpr double kText = 0.52;
  const double room = tile.width() - 2 * padding(tile);
  if (&number != &numbers_.front() || !has_history(width())) return room;
  const double wanted =
      QFontMetricsF(big()).horizontalAdvance(QString::fromStdString(number.value)) + kPadding;
  return std::min(room, std::max(tile.width() * kText - 2 * kPadding, wanted));
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
  const double left = tile.left() + kPadding + text_width(tile, numbers_.front());
  paint_history(painter, QRectF(left, tile.top() + kPadding, tile.right() - kPadding - left,
                                tile.height() - 2 * kPadding));
}

void NumberTiles::paint_tile(QPainter& painter, const QRectF& tile, const Headline& number) const {
  const Theme theme = theme_of(palette());
  painter.setPen(theme.grid);
  painter.setBrush(theme.background);
  painter.drawRoundedRect(tile, 5, 5);
  const double width = text_width(tile, number);
  QRectF line(tile.left() + padding(tile), tile.top() + kPadding, width, fontMetrics().height());
  painter.setFont(font());
  painter.setPen(theme.faint);
  painter.setFont(fitted(font(), number.what, width));
  painter.drawText(line, Qt::AlignLeft, elided(painter, number.what, width));
  painter.setFont(fitted(big(), number.value, width));
  line = {line.left(), line.bottom() + kPadding / 2, width,
          static_cast<double>(QFontMetrics(big()).height())};
  painter.setPen(number.wrong ? theme.bad : theme.text);
  painter.drawText(line, Qt::AlignLeft, elided(painter, number.value, width));
  painter.setFont(fitted(font(), number.difference, width));
  line = {line.left(), line.bottom() + kPadding / 2, width,
          static_cast<double>(fontMetrics().height())};
  painter.setPen(number.wrong || number.change > 0 ? theme.bad
                 : number.change < 0               ? theme.good
                                                   : theme.faint);
  painter.drawText(line, Qt::AlignLeft, elided(painter, number.difference, width));
}

void NumberTiles::paint_history(QPainter& painter, const QRectF& area) const {
  constexpr double kLeast = 30;  // pixels
  if (history_.size() < 2 || area.width() < kLeast) return;
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
