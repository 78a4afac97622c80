#include "gui/widgets/network/network_painter.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "gui/models/network/cut_colour.h"
#include "gui/models/text.h"

namespace strata::gui {
namespace {

QString painter_words(const char* text) {
  return QCoreApplication::translate("NetworkPainter", text);
}

QString first_op(const NetworkNode& node) {
  return QString::fromStdString(node.op).section(QStringLiteral(" + "), 0, 0);
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
      return cut_colour(node.cuts.front(), theme_);
    case NetworkColours::cost:
      return scale_colour(most_.value > 0 ? node.terms.total() / most_ : 0, theme_);
    case NetworkColours::op: {
      const auto at = std::find(ops_.begin(), ops_.end(), first_op(node).toStdString());
      return category_colour(static_cast<std::size_t>(at - ops_.begin()), theme_);
    }
  }
  return theme_.faint;
}

// Of the node's colour, with so much of the background; where its layers are cut otherwise, of
// their colours side by side.
QBrush NetworkPainter::fill(const NetworkNode& node, const QRectF& rect, double share) const {
  if (colours_ != NetworkColours::config || !node.mixed()) {
    return mix(colour(node), theme_.background, share);
  }
  QLinearGradient bands(rect.topLeft(), rect.topRight());
  const double width = 1.0 / static_cast<double>(node.cuts.size());
  for (std::size_t i = 0; i < node.cuts.size(); ++i) {
    const QColor band = mix(cut_colour(node.cuts[i], theme_), theme_.background, share);
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
}

void NetworkPainter::paint_frames(QPainter& painter, double scale) const {
  painter.setFont(small_);
  for (const auto& [frame, part] : map_.frames()) {
    painter.setPen(QPen(mix(theme_.text, theme_.background, 0.75), 1));
    painter.setBrush(mix(theme_.text, theme_.background, 0.96));
    painter.drawRoundedRect(frame, 10, 10);
    if (scale < kDetailed) continue;
    painter.setPen(theme_.faint);
    const QRectF title(frame.left() + 10, frame.top() + 2, frame.width() / 2 - 24, 17);
    const QString name = QString::fromStdString(map_.parts()[part].name);
    painter.drawText(title, Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(small_).elidedText(name, Qt::ElideMiddle, title.width()));
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
        entries.push_back({cut_colour(cuts[i], theme_), human_config(cuts[i])});
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
  }
  return {};
}

}  // namespace strata::gui
