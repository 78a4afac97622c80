#include "gui/widgets/timeline/lane_painter.h"

#include <QFontMetricsF>
#include <QImage>
#include <QPaintEngine>
#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::gui {
namespace {

constexpr double kHaze = 0.22;              // of what does not stand out
constexpr double kFaintest = 0.35;          // of a column that is hardly filled
constexpr double kTextFrom = 26;            // pixels
constexpr int kFewestLetters = 4;           // of a name that has no room
constexpr double kTextMargin = 4;           // of text
constexpr double kNumberFrom = 14;          // pixels; of a round
constexpr double kNearby = 8;               // pixels between slices of one run
constexpr std::size_t kMostTexts = 10'000;  // that are kept as they were laid out

QRgb blended(QRgb over, QRgb under, double strength) {
  const int share = static_cast<int>(std::lround(strength * 256));
  const auto part = [&](int a, int b) { return b + ((a - b) * share + 128) / 256; };
  return qRgb(part(qRed(over), qRed(under)), part(qGreen(over), qGreen(under)),
              part(qBlue(over), qBlue(under)));
}

QColor text_on(const QColor& colour) {
  return qGray(colour.rgb()) > 140 ? QColor(0x10, 0x14, 0x18) : QColor(Qt::white);
}

// Where the next column's slices are looked for: all but the last one of these end before it.
std::size_t next_first(const Lane::Look& look) {
  return look.first == look.last ? look.first : look.last - 1;
}

QStaticText prepared(const QString& text) {
  QStaticText prepared(text);
  prepared.setTextFormat(Qt::PlainText);
  prepared.setPerformanceHint(QStaticText::AggressiveCaching);
  return prepared;
}

}  // namespace

QColor colour_of(const SliceStyle& style, const Theme& theme) {
  switch (style.shade) {
    case Shade::task: {
      const QColor colour =
          style.again ? recomputation_colour(theme) : task_colour(style.kind, style.phase, theme);
      return style.odd ? odd_round_colour(colour, theme) : colour;
    }
    case Shade::category:
      return category_colour(static_cast<std::size_t>(style.value), theme);
    case Shade::unknown:
      return theme.faint;
    case Shade::balance:
      return balance_colour(static_cast<double>(style.value), theme);
    default:
      return scale_colour(0.5, theme);
  }
}

LanePainter::LanePainter(const Recording& recording, const Theme& theme)
    : recording_(recording), theme_(theme), background_(theme.background.rgb()) {
  for (const SliceStyle& style : recording.styles)
    colours_.push_back(colour_of(style, theme).rgb());
}

void LanePainter::set_lit(std::vector<bool> lit) {
  lit_ = std::move(lit);
  lit_slices_.clear();
}

void LanePainter::paint(QPainter& painter, const Lane& lane, const QRectF& area,
                        const TimeWindow& window, double strength) {
  area_ = area;
  window_ = window;
  strength_ = strength;
  if (lane.bubbles() != nullptr) paint_bubbles(painter, *lane.bubbles());
  runs_.clear();
  numbers_runs_ = lit_.empty() && lane.name().kind == LaneKind::device &&
                  QFontMetricsF(painter.font()).height() <= area.height() + 1;
  paint_slices(painter, lane);
  paint_runs(painter);
}

// Where they take most of the time: what a device waits for changes often, as others compute and
// move bytes by turns.
void LanePainter::paint_bubbles(QPainter& painter, const Lane& bubbles) {
  constexpr double kColumn = 2;  // pixels
  const auto columns = static_cast<std::size_t>(area_.width() / kColumn);
  const QBrush brush = bubble_brush(theme_, strength_);
  const double width = window_.length() / static_cast<double>(std::max<std::size_t>(columns, 1));
  std::size_t first = bubbles.ending_after(window_.begin()), begun = 0;
  for (std::size_t column = 0; column <= columns; ++column) {
    bool in_bubble = false;
    if (column < columns && first < bubbles.slices().size()) {
      const double begin = time_at(column, columns);
      const Lane::Look look = bubbles.look(begin, begin + width, first);
      first = next_first(look);
      in_bubble = look.filled > width / 2;
    }
    if (in_bubble) continue;
    if (column > begun) {
      painter.fillRect(QRectF(area_.left() + kColumn * static_cast<double>(begun), area_.top(),
                              kColumn * static_cast<double>(column - begun), area_.height()),
                       brush);
    }
    begun = column + 1;
  }
}

void LanePainter::paint_slices(QPainter& painter, const Lane& lane) {
  const QRectF& area = area_;
  const TimeWindow& window = window_;
  const std::size_t first = lane.ending_after(window.begin());
  const std::size_t last = lane.beginning_at(window.end(), first);
  // What is painted on: of a widget that is rendered into an image, the image.
  const double ratio = painter.paintEngine()->paintDevice()->devicePixelRatioF();
  const auto columns = static_cast<std::size_t>(std::ceil(area.width() * ratio));
  if (first >= last || columns == 0) return;
  if ((last - first) * 4 <= columns) return paint_few(painter, lane, first, last);
  if (lane.name().kind == LaneKind::curve) return paint_curve(painter, lane, first, columns);
  paint_columns(painter, lane, first, columns);
  if (!lit_.empty()) paint_lit(painter, lane, columns / 2);
}

double LanePainter::strength_of(const Slice& slice) const {
  const bool stands_out = lit_.empty() || (slice.label < lit_.size() && lit_[slice.label]);
  return stands_out ? strength_ : strength_ * kHaze;
}

void LanePainter::paint_few(QPainter& painter, const Lane& lane, std::size_t first,
                            std::size_t last) {
  for (std::size_t i = first; i < last; ++i) paint_slice(painter, lane.slices()[i]);
}

void LanePainter::paint_slice(QPainter& painter, const Slice& slice) {
  const double left = std::max(window_.to_x(slice.begin, area_.width()), 0.0);
  const double right = std::min(window_.to_x(slice.end, area_.width()), area_.width());
  const double height = area_.height() * static_cast<double>(slice.height);
  // A gap tells neighbours of the same colour apart; what is thin keeps its pixel.
  const double gap = right - left > 4 ? 1 : 0;
  const QRectF box(area_.left() + left, area_.bottom() - height, std::max(right - left - gap, 1.0),
                   height);
  const QColor colour = blended(colours_[slice.style], background_, strength_of(slice));
  painter.fillRect(box, colour);
  if (recording_.styles[slice.style].again) {
    painter.fillRect(box, QBrush(see_through(theme_.background, 0.4), Qt::FDiagPattern));
  }
  const bool numbered = slice.round > 0 && box.width() >= 2 * kNumberFrom;
  if (slice.round > 0) extend_run(slice, left, right, numbered);
  if (box.width() < kTextFrom || slice.height < 1) return;
  painter.setPen(text_on(colour));
  paint_text(painter, slice, box);
}

// The round's number first.
void LanePainter::paint_text(QPainter& painter, const Slice& slice, QRectF box) {
  const QFontMetricsF metrics(painter.font());
  if (metrics.height() > box.height() + 1) return;
  if (slice.round > 0 && box.width() >= 2 * kNumberFrom) {
    const QStaticText& round = number(slice.round, painter.font());
    const double top = box.center().y() - metrics.height() / 2;
    painter.drawStaticText(QPointF(box.left() + kTextMargin, top), round);
    box.setLeft(box.left() + round.size().width() + kTextMargin);
    if (box.width() < kTextFrom) return;
  }
  const Text& text = text_of(slice.label, metrics);
  const double room = box.width() - 2 * kTextMargin;
  const bool whole = text.whole_width <= room;
  const QPointF at(box.left() + kTextMargin, box.center().y() - metrics.height() / 2);
  if (whole || text.layer_width <= room) {
    return painter.drawStaticText(at, whole ? text.whole : text.layer);
  }
  const QString some = metrics.elidedText(text.layer.text(), Qt::ElideMiddle, room);
  if (some.size() < kFewestLetters) return;
  painter.drawText(QPointF(at.x(), at.y() + metrics.ascent()), some);
}

const QStaticText& LanePainter::number(std::uint16_t round, const QFont& font) {
  const auto known = numbers_.find(round);
  if (known != numbers_.end()) return known->second;
  QStaticText& text = numbers_[round];
  text = prepared(QString::number(round));
  text.prepare({}, font);
  return text;
}

void LanePainter::extend_run(const Slice& slice, double left, double right, bool numbered) {
  if (!numbers_runs_) return;
  const auto is_forward = [&](std::uint16_t style) {
    const SliceStyle& of = recording_.styles[style];
    const auto role = role_of(of.kind, of.phase);
    return role && role->work == WorkKind::forward && !of.again;
  };
  Run* const last = runs_.empty() ? nullptr : &runs_.back();
  const bool goes_on =
      last != nullptr && last->round == slice.round && left <= last->right + kNearby &&
      (last->style == slice.style || is_forward(last->style) == is_forward(slice.style));
  if (!goes_on) {
    runs_.push_back({left, right, slice.round, slice.style, numbered});
  } else {
    last->right = std::max(last->right, right);
    last->numbered |= numbered;
    last->mixed |= last->style != slice.style;
  }
}

void LanePainter::paint_runs(QPainter& painter) {
  for (const Run& run : runs_) {
    if (run.numbered || run.right - run.left < kNumberFrom) continue;
    const QStaticText& text = number(run.round, painter.font());
    const QSizeF size = text.size();
    if (run.right - run.left < size.width() + kTextMargin) continue;
    const QRectF plate(area_.left() + (run.left + run.right - size.width()) / 2,
                       area_.center().y() - size.height() / 2, size.width(), size.height());
    if (run.mixed) {
      painter.fillRect(plate.adjusted(-2, 1, 2, -1), see_through(theme_.background, 0.8));
      painter.setPen(theme_.text);
    } else {
      painter.setPen(text_on(blended(colours_[run.style], background_, strength_)));
    }
    painter.drawStaticText(plate.topLeft(), text);
  }
}

const LanePainter::Text& LanePainter::text_of(std::uint32_t label, const QFontMetricsF& metrics) {
  const auto known = texts_.find(label);
  if (known != texts_.end()) return known->second;
  if (texts_.size() >= kMostTexts) texts_.clear();
  const QString whole = QString::fromStdString(recording_.labels[label].text);
  const QString layer = whole.section(QLatin1Char(' '), 0, 0);
  return texts_[label] = {prepared(whole), prepared(layer), metrics.horizontalAdvance(whole),
                          metrics.horizontalAdvance(layer)};
}

double LanePainter::time_at(std::size_t column, std::size_t columns) const {
  return window_.begin() +
         window_.length() * static_cast<double>(column) / static_cast<double>(columns);
}

QRgb LanePainter::column_colour(const Slice& slice, double filled) const {
  const double share = std::clamp(filled, kFaintest, 1.0);
  return blended(colours_[slice.style], background_, strength_of(slice) * share);
}

// One line of pixels, drawn as high as the lane. The slices that are seen lie far apart in memory:
// they are fetched while the next columns are looked at.
void LanePainter::paint_columns(QPainter& painter, const Lane& lane, std::size_t first,
                                std::size_t columns) {
  QImage line(static_cast<int>(columns), 1, QImage::Format_ARGB32_Premultiplied);
  line.fill(Qt::transparent);
  auto* pixels = reinterpret_cast<QRgb*>(line.scanLine(0));
  seen_.clear();
  const double width = window_.length() / static_cast<double>(columns);
  for (std::size_t column = 0; column < columns; ++column) {
    const double begin = time_at(column, columns);
    const Lane::Look look = lane.look(begin, begin + width, first);
    first = next_first(look);
    if (look.first == lane.slices().size()) break;
    if (look.first == look.last) continue;
    const Slice* slice = &lane.slices()[lane.longest(look.first, look.last)];
    __builtin_prefetch(slice);
    seen_.push_back({pixels + column, slice, look.filled / width});
  }
  const double scale = area_.width() / static_cast<double>(columns);
  for (const Seen& seen : seen_) {
    *seen.pixel = column_colour(*seen.slice, seen.filled);
    if (seen.slice->round == 0) continue;
    const double left = static_cast<double>(seen.pixel - pixels) * scale;
    extend_run(*seen.slice, left, left + scale, false);
  }
  painter.drawImage(area_, line);
}

const std::vector<std::uint32_t>& LanePainter::lit_slices(const Lane& lane) {
  const auto [known, is_new] = lit_slices_.try_emplace(&lane);
  if (!is_new) return known->second;
  for (std::uint32_t i = 0; i < lane.slices().size(); ++i) {
    const std::uint32_t label = lane.slices()[i].label;
    if (label < lit_.size() && lit_[label]) known->second.push_back(i);
  }
  return known->second;
}

// One among many would hide in a column beneath a longer neighbour. Very many are in every column.
void LanePainter::paint_lit(QPainter& painter, const Lane& lane, std::size_t most) {
  const auto slices = lane.slices();
  const std::vector<std::uint32_t>& lit = lit_slices(lane);
  const auto first = std::partition_point(
      lit.begin(), lit.end(), [&](std::uint32_t i) { return slices[i].end <= window_.begin(); });
  const auto last = std::partition_point(
      first, lit.end(), [&](std::uint32_t i) { return slices[i].begin < window_.end(); });
  if (static_cast<std::size_t>(last - first) > most) return;
  for (auto i = first; i != last; ++i) paint_slice(painter, slices[*i]);
}

void LanePainter::paint_curve(QPainter& painter, const Lane& lane, std::size_t first,
                              std::size_t columns) {
  const double scale = static_cast<double>(columns) / area_.width();
  const int height = std::max(1, static_cast<int>(std::lround(area_.height() * scale)));
  QImage image(static_cast<int>(columns), height, QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  const QRgb colour = column_colour(lane.slices()[first], 1);
  const double width = window_.length() / static_cast<double>(columns);
  for (std::size_t column = 0; column < columns; ++column) {
    const double begin = time_at(column, columns);
    const Lane::Look look = lane.look(begin, begin + width, first);
    first = next_first(look);
    const int top =
        height - static_cast<int>(std::ceil(height * std::min(look.filled / width, 1.0)));
    for (int y = top; y < height; ++y) {
      reinterpret_cast<QRgb*>(image.scanLine(y))[column] = colour;
    }
  }
  painter.drawImage(area_, image);
}

}  // namespace strata::gui
