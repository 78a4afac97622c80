#include "gui/widgets/network/network_painter.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/models/network/cut_colour.h"
#include "gui/models/short_name.h"
#include "gui/models/text.h"

namespace strata::gui {
namespace {

QString painter_words(const char* text) {
  return QCoreApplication::translate("NetworkPainter", text);
}

// "block* ×12, cut in 2 ways".
QString frame_title(const NetworkMap& map, std::size_t part) {
  QString title = QString::fromStdString(shown_name(map.parts()[part]));
  const auto ways = map.picture().ways.find(part);
  if (ways == map.picture().ways.end() || ways->second == 1) return title;
  return title + painter_words(", cut in %1 ways").arg(ways->second);
}

QString first_op(const NetworkNode& node) {
  return QString::fromStdString(node.op).section(QStringLiteral(" + "), 0, 0);
}

constexpr double kPicture = 40, kPad = 8, kBar = 5;

QString cut_text(const NetworkNode& node) {
  if (!node.mixed()) return QString::fromStdString(node.cuts.front().text);
  return QCoreApplication::translate("NetworkPainter", "%1 cuts").arg(node.cuts.size());
}

void draw_lock(QPainter& painter, const QRectF& where, const QColor& colour) {
  painter.save();
  painter.setPen(QPen(colour, where.width() * 0.16));
  painter.setBrush(Qt::NoBrush);
  const double half = where.height() / 2;
  const double aside = where.width() * 0.2;
  painter.drawArc(
      QRectF(where.left() + aside, where.top(), where.width() - 2 * aside, where.height()), 0,
      180 * 16);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour);
  painter.drawRoundedRect(where.adjusted(0, half, 0, 0), 1, 1);
  painter.restore();
}

// Smaller where a cut has no room, as far as it can be read; what has none even so is elided.
void draw_cut(QPainter& painter, QFont font, const QRectF& where, const QString& text) {
  constexpr double kSmallest = 0.75;
  const double wide = QFontMetricsF(font).horizontalAdvance(text);
  if (wide > where.width()) {
    const double share = std::max(kSmallest, where.width() / wide);
    font.setPixelSize(std::max(1, static_cast<int>(share * font.pixelSize())));
  }
  painter.setFont(font);
  painter.drawText(where, Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(font).elidedText(text, Qt::ElideRight, where.width()));
}

QString name_in(const QFontMetricsF& metrics, const NetworkNode& node, double width) {
  return elided_name(QString::fromStdString(node.name), node.shared, width, metrics);
}

constexpr int kMostBlocks = 4, kMostCuts = 8;

struct Block {
  QRectF front;
  QPointF depth;  ///< from the front's corners to the back's
};

void paint_block(QPainter& painter, const Block& block, const Degrees& degrees, const QColor& fill,
                 const QColor& lines) {
  const QRectF& f = block.front;
  const QPointF& d = block.depth;
  const QPolygonF top{f.topLeft(), f.topRight(), f.topRight() + d, f.topLeft() + d};
  const QPolygonF side{f.topRight(), f.bottomRight(), f.bottomRight() + d, f.topRight() + d};
  painter.setPen(QPen(lines, 1));
  painter.setBrush(fill);
  painter.drawRect(f);
  painter.setBrush(fill.lighter(115));
  painter.drawPolygon(top);
  painter.setBrush(fill.darker(125));
  painter.drawPolygon(side);
  const auto cuts = [](std::int32_t degree) { return std::min(degree, kMostCuts); };
  for (int i = 1; i < cuts(degrees[Dim::h]); ++i) {
    const double y = f.top() + f.height() * i / cuts(degrees[Dim::h]);
    painter.drawLine(QLineF(f.left(), y, f.right(), y));
    painter.drawLine(QLineF(QPointF(f.right(), y), QPointF(f.right(), y) + d));
  }
  for (int i = 1; i < cuts(degrees[Dim::w]); ++i) {
    const double x = f.left() + f.width() * i / cuts(degrees[Dim::w]);
    painter.drawLine(QLineF(x, f.top(), x, f.bottom()));
    painter.drawLine(QLineF(QPointF(x, f.top()), QPointF(x, f.top()) + d));
  }
  for (int i = 1; i < cuts(degrees[Dim::c]); ++i) {
    const QPointF back = d * i / cuts(degrees[Dim::c]);
    painter.drawLine(QLineF(f.topLeft() + back, f.topRight() + back));
    painter.drawLine(QLineF(f.topRight() + back, f.bottomRight() + back));
  }
}

}  // namespace

QColor NetworkPainter::mix(const QColor& a, const QColor& b, double share) {
  const auto part = [&](int x, int y) {
    return static_cast<int>(std::lround(x + (y - x) * share));
  };
  return {part(a.red(), b.red()), part(a.green(), b.green()), part(a.blue(), b.blue())};
}

NetworkPainter::NetworkPainter(const NetworkMap& map, const Theme& theme, NetworkColours colours,
                               const QFont& font)
    : map_(map), theme_(theme), colours_(colours), font_(font), bold_(font), small_(font) {
  font_.setPixelSize(12);
  bold_.setPixelSize(13);
  bold_.setBold(true);
  small_.setPixelSize(11);
  for (const NetworkNode& node : map.picture().nodes) {
    most_ = std::max(most_, node.terms.total());
    const std::string op = first_op(node).toStdString();
    if (std::find(ops_.begin(), ops_.end(), op) == ops_.end()) ops_.push_back(op);
  }
  for (const NetworkEdge& edge : map.picture().edges) widest_ = std::max(widest_, edge.bytes);
}

QColor NetworkPainter::colour(const NetworkNode& node) const {
  if (node.network_input) return mix(theme_.text, theme_.background, 0.7);
  switch (colours_) {
    case NetworkColours::config:
      return cut_colour(node.cuts.front().config, theme_);
    case NetworkColours::cost:
      return scale_colour(most_.value > 0 ? node.terms.total() / most_ : 0, theme_);
    case NetworkColours::op: {
      const auto at = std::find(ops_.begin(), ops_.end(), first_op(node).toStdString());
      return category_colour(static_cast<std::size_t>(at - ops_.begin()), theme_);
    }
    case NetworkColours::stage:
      return category_colour(node.stages.empty() ? 0 : node.stages.front(), theme_);
  }
  return theme_.faint;
}

// One, or those of its layers' cuts or stages.
std::vector<QColor> NetworkPainter::colours(const NetworkNode& node) const {
  std::vector<QColor> colours;
  if (colours_ == NetworkColours::config && node.mixed()) {
    for (const NamedCut& cut : node.cuts) colours.push_back(cut_colour(cut.config, theme_));
  } else if (colours_ == NetworkColours::stage && !node.network_input) {
    for (const std::uint32_t stage : node.stages) colours.push_back(category_colour(stage, theme_));
  }
  if (colours.empty()) colours.push_back(colour(node));
  return colours;
}

// Of the node's colour, with so much of the background; where it has several, of all side by side.
QBrush NetworkPainter::fill(const NetworkNode& node, const QRectF& rect, double share) const {
  const std::vector<QColor> all = colours(node);
  if (all.size() == 1) return mix(all.front(), theme_.background, share);
  QLinearGradient bands(rect.topLeft(), rect.topRight());
  const double width = 1.0 / static_cast<double>(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const QColor band = mix(all[i], theme_.background, share);
    const double from = static_cast<double>(i) * width;
    bands.setColorAt(from, band);
    bands.setColorAt(std::min(from + 0.999 * width, 1.0), band);
  }
  return bands;
}

void NetworkPainter::paint(QPainter& painter, double scale, const QRectF& visible) const {
  painter.setRenderHint(QPainter::Antialiasing, true);
  paint_frames(painter, scale);
  paint_edges(painter, scale, visible);
  for (std::size_t i = 0; i < map_.picture().nodes.size(); ++i) {
    if (visible.intersects(map_.rect(i).adjusted(-6, -6, 6, 6))) paint_node(painter, scale, i);
  }
  paint_folds(painter, scale);
}

void NetworkPainter::paint_frames(QPainter& painter, double scale) const {
  painter.setFont(small_);
  for (const auto& [frame, part] : map_.frames()) {
    painter.setPen(QPen(mix(theme_.text, theme_.background, 0.75), 1));
    painter.setBrush(mix(theme_.text, theme_.background, 0.96));
    painter.drawRoundedRect(frame, 10, 10);
    if (scale < kDetailed || map_.parts()[part].times > 1) continue;
    painter.setPen(theme_.faint);
    const QRectF title(frame.left() + 10, frame.top() + 2, frame.width() / 2 - 24, 17);
    const QString name = QString::fromStdString(map_.parts()[part].name);
    painter.drawText(title, Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(small_).elidedText(name, Qt::ElideMiddle, title.width()));
  }
}

// On the corner of each frame of a folded block: its name where it begins, and how many there are.
void NetworkPainter::paint_folds(QPainter& painter, double scale) const {
  QFont font = bold_;
  font.setPixelSize(std::max(12, static_cast<int>(kLeastFold / scale)));
  const QFontMetricsF metrics(font);
  painter.setFont(font);
  std::optional<std::size_t> before;
  for (const auto& [frame, part] : map_.frames()) {
    const std::size_t times = map_.parts()[part].times;
    if (times == 1) continue;
    const bool goes_on = std::exchange(before, part) == part;
    const QString text = goes_on ? QStringLiteral("×%1").arg(times) : frame_title(map_, part);
    QRectF plate(0, 0, metrics.horizontalAdvance(text) + metrics.height(), metrics.height() * 1.1);
    plate.moveCenter({frame.left() + plate.width() / 2, frame.top()});
    painter.setPen(Qt::NoPen);
    painter.setBrush(mix(theme_.text, theme_.background, 0.2));
    painter.drawRoundedRect(plate, plate.height() / 2, plate.height() / 2);
    painter.setPen(theme_.background);
    painter.drawText(plate, Qt::AlignCenter, text);
  }
}

// The more bytes, the wider.
void NetworkPainter::paint_edges(QPainter& painter, double scale, const QRectF& visible) const {
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(mix(theme_.text, theme_.background, 0.62), 1.2));
  for (const QPainterPath& path : map_.sheet().connectors) painter.drawPath(path);
  for (std::size_t e = 0; e < map_.picture().edges.size(); ++e) {
    const QPainterPath& curve = map_.curve(e);
    if (!visible.intersects(curve.boundingRect().adjusted(-80, -4, 80, 4))) continue;
    const Bytes bytes = map_.picture().edges[e].bytes;
    const double share = widest_.value > 0
                             ? static_cast<double>(bytes.value) / static_cast<double>(widest_.value)
                             : 0;
    painter.setPen(bytes.value == 0
                       ? QPen(mix(theme_.text, theme_.background, 0.62), 1.2)
                       : QPen(work_colour(WorkKind::transfer, theme_), 1.6 + 4.4 * std::sqrt(share),
                              Qt::SolidLine, Qt::RoundCap));
    painter.drawPath(curve);
  }
  if (scale < kDetailed) return;
  QFont numbers = small_;
  numbers.setPixelSize(std::max(small_.pixelSize(), static_cast<int>(kLeastNumber / scale)));
  painter.setFont(numbers);
  for (std::size_t e = 0; e < map_.picture().edges.size(); ++e) paint_bytes(painter, e);
}

void NetworkPainter::paint_bytes(QPainter& painter, std::size_t edge) const {
  const Bytes bytes = map_.picture().edges[edge].bytes;
  if (bytes.value == 0) return;
  const QString text = human_bytes(bytes);
  const QFontMetricsF metrics(painter.font());
  QRectF plate(0, 0, metrics.horizontalAdvance(text) + 8, metrics.height() + 1);
  plate.moveCenter(map_.curve(edge).pointAtPercent(0.5));
  painter.setPen(Qt::NoPen);
  painter.setBrush(see_through(theme_.background, 0.88));
  painter.drawRoundedRect(plate, 4, 4);
  painter.setPen(theme_.text);
  painter.drawText(plate, Qt::AlignCenter, text);
}

std::vector<ColourMeaning> NetworkPainter::legend() const {
  constexpr std::size_t kMostEntries = 10;
  std::vector<ColourMeaning> entries;
  const auto& cuts = map_.picture().cuts;
  switch (colours_) {
    case NetworkColours::config:
      for (std::size_t i = 0; i < std::min(cuts.size(), kMostEntries); ++i) {
        entries.push_back(
            {cut_colour(cuts[i].config, theme_), QString::fromStdString(cuts[i].text)});
      }
      if (cuts.size() > kMostEntries) {
        entries.push_back(
            {theme_.grid, painter_words("and %1 more").arg(cuts.size() - kMostEntries)});
      }
      break;
    case NetworkColours::cost:
      for (const double share : {0.0, 0.5, 1.0}) {
        entries.push_back({scale_colour(share, theme_), human_seconds(share * most_)});
      }
      break;
    case NetworkColours::op:
      for (std::size_t i = 0; i < std::min(ops_.size(), kMostEntries); ++i) {
        entries.push_back({category_colour(i, theme_), QString::fromStdString(ops_[i])});
      }
      break;
    case NetworkColours::stage: {
      const std::size_t stages = map_.scene() ? map_.scene()->stages.count() : 1;
      for (std::size_t i = 0; i < std::min(stages, kMostEntries); ++i) {
        entries.push_back({category_colour(i, theme_), painter_words("stage %1").arg(i + 1)});
      }
      if (stages > kMostEntries) {
        entries.push_back({theme_.grid, painter_words("and %1 more").arg(stages - kMostEntries)});
      }
      break;
    }
  }
  return entries;
}

QColor cut_colour(const Config& cut, const Theme& theme) {
  const CutColour colour = colour_of(cut);
  return shade_colour(category_colour(colour.family, theme), colour.shade);
}

QString legend_title(NetworkColours colours) {
  switch (colours) {
    case NetworkColours::config:
      return painter_words("Cut");
    case NetworkColours::cost:
      return painter_words("Eq. 1");
    case NetworkColours::op:
      return painter_words("Op");
    case NetworkColours::stage:
      return painter_words("Stage");
  }
  return {};
}

// One node of a network's graph: its picture, its words, its cost.

void NetworkPainter::paint_node(QPainter& painter, double scale, std::size_t i) const {
  const NetworkNode& node = map_.picture().nodes[i];
  const QRectF rect = map_.rect(i);
  const bool block = map_.parts()[node.part].kind == PartKind::block;
  const QBrush edge = fill(node, rect, 0.35);
  if (block) {
    painter.setPen(QPen(edge, 1));
    painter.setBrush(fill(node, rect, 0.9));
    painter.drawRoundedRect(rect.translated(4, 4), 7, 7);
  }
  painter.setPen(QPen(edge, 1.2));
  painter.setBrush(fill(node, rect, scale < kDetailed ? 0.45 : 0.84));
  painter.drawRoundedRect(rect, 7, 7);
  painter.setClipRect(rect);
  scale >= kReadable ? paint_content(painter, node, rect) : paint_name(painter, scale, node, rect);
  if (scale >= kDetailed) paint_cost(painter, node, rect);
  painter.setClipping(false);
  paint_border(painter, i);
  paint_lock(painter, scale, i);
}

void NetworkPainter::paint_content(QPainter& painter, const NetworkNode& node,
                                   const QRectF& rect) const {
  paint_picture(painter, node,
                QRectF(rect.left() + kPad, rect.top() + kPad - 1, kPicture, kPicture));
  paint_words(painter, node, rect);
}

void NetworkPainter::paint_picture(QPainter& painter, const NetworkNode& node,
                                   const QRectF& where) const {
  if (node.network_input) return;
  const QColor base = colour(node);
  paint_config(painter, where, node.cuts.front().config.degrees, mix(base, theme_.background, 0.25),
               mix(theme_.background, base, 0.15));
}

// In a small sheet: the name as large as it is in others, across the node; below it, where there is
// room, how the layer is cut.
void NetworkPainter::paint_name(QPainter& painter, double scale, const NetworkNode& node,
                                const QRectF& rect) const {
  constexpr double kAside = 6, kLine = 1.25;  // of a font's size
  const double size = std::min(kLeastName / scale, rect.height() / kLine);
  if (size * scale < kLeastName / 2) return;
  QFont font = bold_;
  font.setPixelSize(static_cast<int>(size));
  const bool alone = rect.height() < 2 * kLine * size + kBar;
  const QRectF line = rect.adjusted(kAside, 0, -kAside, 0);
  const QRectF top(line.left(), line.top() + 2, line.width(), kLine * size);
  painter.setFont(font);
  painter.setPen(theme_.text);
  painter.drawText(alone ? line : top, Qt::AlignLeft | Qt::AlignVCenter,
                   name_in(QFontMetricsF(font), node, line.width()));
  if (alone || node.network_input) return;
  const double side = rect.bottom() - kBar - 4 - top.bottom();
  paint_picture(painter, node, QRectF(line.left() + 2, top.bottom(), side, side));
  font.setBold(false);
  painter.setPen(theme_.text);
  const QRectF beside(line.left() + side + 8, top.bottom(), line.width() - side - 8, side);
  draw_cut(painter, font, beside, cut_text(node));
}

void NetworkPainter::paint_words(QPainter& painter, const NetworkNode& node,
                                 const QRectF& rect) const {
  const double left = rect.left() + kPad + (node.network_input ? 0 : kPicture + kPad);
  const double right = rect.right() - kPad;
  const auto line = [&](double top, double height, const QFont& font, const QColor& colour,
                        const QString& text, double until) {
    painter.setFont(font);
    painter.setPen(colour);
    const QRectF where(left, rect.top() + top, until - left, height);
    painter.drawText(where, Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(font).elidedText(text, Qt::ElideRight, where.width()));
  };
  line(5, 17, bold_, theme_.text, name_in(QFontMetricsF(bold_), node, right - left), right);
  line(22, 15, small_, theme_.faint, QString::fromStdString(node.op), right);
  if (node.network_input) return;
  const QString cost = human_seconds(node.terms.total());
  const double wide = QFontMetricsF(small_).horizontalAdvance(cost);
  painter.setFont(small_);
  painter.setPen(theme_.faint);
  painter.drawText(QRectF(right - wide - 1, rect.top() + 37, wide + 1, 15),
                   Qt::AlignRight | Qt::AlignVCenter, cost);
  painter.setPen(theme_.text);
  draw_cut(painter, font_, QRectF(left, rect.top() + 37, right - wide - 6 - left, 15),
           cut_text(node));
}

// At the foot: compute, transfer and sync, as long as the node's share of the dearest one's cost.
void NetworkPainter::paint_cost(QPainter& painter, const NetworkNode& node,
                                const QRectF& rect) const {
  if (most_.value <= 0) return;
  const double whole = rect.width() - 2 * kPad;
  QRectF bar(rect.left() + kPad, rect.bottom() - kBar - 3, 0, kBar);
  painter.setPen(Qt::NoPen);
  for (const auto& [seconds, work] : {std::pair(node.terms.compute, WorkKind::forward),
                                      std::pair(node.terms.transfer, WorkKind::transfer),
                                      std::pair(node.terms.sync, WorkKind::sync)}) {
    bar.setWidth(whole * (seconds / most_));
    painter.setBrush(work_colour(work, theme_));
    painter.drawRect(bar);
    bar.moveLeft(bar.right());
  }
}

void NetworkPainter::paint_border(QPainter& painter, std::size_t node) const {
  const QRectF rect = map_.rect(node);
  painter.setBrush(Qt::NoBrush);
  if (found.contains(node)) {
    painter.setPen(QPen(theme_.critical, 2.5, Qt::DotLine));
    painter.drawRoundedRect(rect.adjusted(-5, -5, 5, 5), 10, 10);
  }
  if (map_.touched(node)) {
    painter.setPen(QPen(theme_.accent, 3, map_.selected(node) ? Qt::SolidLine : Qt::DashLine));
    painter.drawRoundedRect(rect.adjusted(-1, -1, 1, 1), 8, 8);
  } else if (hovered == node) {
    painter.setPen(QPen(theme_.accent, 1.5));
    painter.drawRoundedRect(rect, 7, 7);
  }
  if (current == node) {
    painter.setPen(QPen(theme_.text, 1, Qt::DotLine));
    painter.drawRoundedRect(rect.adjusted(-4, -4, 4, 4), 10, 10);
  }
}

// On the node's corner, as large as can be seen however small the sheet is; paler where not all of
// its layers are locked.
void NetworkPainter::paint_lock(QPainter& painter, double scale, std::size_t number) const {
  const NetworkNode& node = map_.picture().nodes[number];
  if (node.locked == 0) return;
  const QRectF rect = map_.rect(number);
  const double side = std::min(std::max(20.0, kLeastLock / scale), rect.height() * 0.7);
  QRectF badge(0, 0, side, side);
  badge.moveCenter(rect.topRight() + QPointF(-side / 4, side / 6));
  painter.setPen(QPen(theme_.background, 1.5));
  painter.setBrush(node.locked == node.layers ? theme_.text : theme_.faint);
  painter.drawEllipse(badge);
  const double edge = side * 0.26;
  draw_lock(painter, badge.adjusted(edge, edge * 0.85, -edge, -edge), theme_.background);
}

void paint_config(QPainter& painter, const QRectF& where, const Degrees& degrees,
                  const QColor& fill, const QColor& lines) {
  const int blocks = std::clamp(degrees[Dim::n], 1, kMostBlocks);
  const int columns = blocks > 1 ? 2 : 1, rows = blocks > 2 ? 2 : 1;
  const double gap = 3;
  const QSizeF cell((where.width() - gap * (columns - 1)) / columns,
                    (where.height() - gap * (rows - 1)) / rows);
  // Channels show by a deeper block.
  const double share = degrees[Dim::c] > 1 ? 0.42 : 0.24;
  const double side = std::min(cell.width(), cell.height()) / (1 + share);
  const QPointF depth(side * share, -side * share);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing, true);
  for (int i = 0; i < blocks; ++i) {
    const int column = i % columns, row = i / columns;
    const QPointF corner(where.left() + column * (cell.width() + gap),
                         where.top() + row * (cell.height() + gap));
    const QPointF free((cell.width() - side * (1 + share)) / 2,
                       (cell.height() - side * (1 + share)) / 2);
    const QRectF front(corner + free + QPointF(0, side * share), QSizeF(side, side));
    paint_block(painter, {front, depth}, degrees, fill, lines);
  }
  painter.restore();
}

}  // namespace strata::gui
