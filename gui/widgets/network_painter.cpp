#include "gui/widgets/network_painter.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "gui/models/text.h"
#include "gui/widgets/config_picture.h"

namespace strata::gui {
namespace {

// Below these scales words and small print are left out.
constexpr double kReadable = 0.42, kDetailed = 0.3;
constexpr double kPicture = 40, kPad = 8, kBar = 5;

QColor mix(const QColor& a, const QColor& b, double share) {
  const auto part = [&](int x, int y) {
    return static_cast<int>(std::lround(x + (y - x) * share));
  };
  return {part(a.red(), b.red()), part(a.green(), b.green()), part(a.blue(), b.blue())};
}

QString painter_words(const char* text) {
  return QCoreApplication::translate("NetworkPainter", text);
}

QString first_op(const NetworkNode& node) {
  return QString::fromStdString(node.op).section(QStringLiteral(" + "), 0, 0);
}

}  // namespace

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

std::size_t NetworkPainter::cut_number(const Config& cut) const {
  const auto& cuts = map_.picture().cuts;
  return static_cast<std::size_t>(std::find(cuts.begin(), cuts.end(), cut) - cuts.begin());
}

QColor NetworkPainter::colour(const NetworkNode& node) const {
  if (node.network_input) return mix(theme_.text, theme_.background, 0.7);
  switch (colours_) {
    case NetworkColours::config:
      return node.mixed() ? mix(theme_.text, theme_.background, 0.5)
                          : category_colour(cut_number(node.cuts.front()), theme_);
    case NetworkColours::cost:
      return scale_colour(most_.value > 0 ? node.terms.total() / most_ : 0, theme_);
    case NetworkColours::op: {
      const auto at = std::find(ops_.begin(), ops_.end(), first_op(node).toStdString());
      return category_colour(static_cast<std::size_t>(at - ops_.begin()), theme_);
    }
  }
  return theme_.faint;
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
    if (scale < kReadable) continue;
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
    painter.setPen(
        bytes.value == 0
            ? QPen(mix(theme_.text, theme_.background, 0.62), 1.2)
            : QPen(task_colour({TaskKind::transfer, Phase::forward, {}, {}, 0, 0, {}}, theme_),
                   1.6 + 4.4 * std::sqrt(share), Qt::SolidLine, Qt::RoundCap));
    painter.drawPath(curve);
  }
  if (scale < kReadable) return;
  painter.setFont(small_);
  for (std::size_t e = 0; e < map_.picture().edges.size(); ++e) paint_bytes(painter, e);
}

void NetworkPainter::paint_bytes(QPainter& painter, std::size_t edge) const {
  const Bytes bytes = map_.picture().edges[edge].bytes;
  if (bytes.value == 0) return;
  const QString text = human_bytes(bytes);
  const QRectF box = QFontMetricsF(small_).boundingRect(text);
  QRectF plate(0, 0, box.width() + 8, 15);
  plate.moveCenter(map_.curve(edge).pointAtPercent(0.5));
  painter.setPen(Qt::NoPen);
  QColor ground = theme_.background;
  ground.setAlphaF(0.88F);
  painter.setBrush(ground);
  painter.drawRoundedRect(plate, 4, 4);
  painter.setPen(theme_.text);
  painter.drawText(plate, Qt::AlignCenter, text);
}

void NetworkPainter::paint_node(QPainter& painter, double scale, std::size_t i) const {
  const NetworkNode& node = map_.picture().nodes[i];
  const QRectF rect = map_.rect(i);
  const QColor base = colour(node);
  const bool block = map_.parts()[node.part].kind == PartKind::block;
  const QColor edge = mix(base, theme_.background, 0.35);
  if (block) {
    painter.setPen(QPen(edge, 1));
    painter.setBrush(mix(base, theme_.background, 0.9));
    painter.drawRoundedRect(rect.translated(4, 4), 7, 7);
  }
  painter.setPen(QPen(edge, 1.2));
  painter.setBrush(mix(base, theme_.background, scale < kDetailed ? 0.45 : 0.84));
  painter.drawRoundedRect(rect, 7, 7);
  if (scale >= kDetailed) {
    QRectF picture(rect.left() + kPad, rect.top() + kPad - 1, kPicture, kPicture);
    painter.setClipRect(rect);
    if (!node.network_input) {
      const Degrees& degrees = node.cuts.front().degrees;
      paint_config(painter, picture, degrees, mix(base, theme_.background, 0.25),
                   mix(theme_.background, base, 0.15));
    }
    if (scale >= kReadable) paint_words(painter, node, rect);
    paint_cost(painter, node, rect);
    painter.setClipping(false);
  }
  paint_border(painter, i);
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
  double until = right;
  if (node.locked > 0) {
    paint_lock(painter, QRectF(right - 11, rect.top() + 8, 11, 12),
               node.locked == node.layers ? theme_.text : theme_.faint);
    until -= 16;
  }
  line(5, 17, bold_, theme_.text, QString::fromStdString(node.name), until);
  line(22, 15, small_, theme_.faint, QString::fromStdString(node.op), right);
  if (node.network_input) return;
  const QString cost = human_seconds(node.terms.total());
  const double wide = QFontMetricsF(small_).horizontalAdvance(cost);
  painter.setFont(small_);
  painter.setPen(theme_.faint);
  painter.drawText(QRectF(right - wide - 1, rect.top() + 37, wide + 1, 15),
                   Qt::AlignRight | Qt::AlignVCenter, cost);
  const QString cut = node.mixed() ? painter_words("%1 cuts").arg(node.cuts.size())
                                   : human_config(node.cuts.front());
  line(37, 15, font_, theme_.text, cut, right - wide - 6);
}

// At the foot: compute, transfer and sync, as long as the node's share of the dearest one's cost.
void NetworkPainter::paint_cost(QPainter& painter, const NetworkNode& node,
                                const QRectF& rect) const {
  if (most_.value <= 0) return;
  const Task compute{TaskKind::compute, Phase::forward, {}, {}, 0, 0, {}};
  const Task transfer{TaskKind::transfer, Phase::forward, {}, {}, 0, 0, {}};
  const Task sync{TaskKind::collective, Phase::update, {}, {}, 0, 0, {}};
  const double whole = rect.width() - 2 * kPad;
  QRectF bar(rect.left() + kPad, rect.bottom() - kBar - 3, 0, kBar);
  painter.setPen(Qt::NoPen);
  for (const auto& [seconds, task] :
       {std::pair(node.terms.compute, compute), std::pair(node.terms.transfer, transfer),
        std::pair(node.terms.sync, sync)}) {
    bar.setWidth(whole * (seconds / most_));
    painter.setBrush(task_colour(task, theme_));
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

std::vector<LegendEntry> NetworkPainter::legend() const {
  constexpr std::size_t kMost = 10;
  std::vector<LegendEntry> entries;
  const auto& cuts = map_.picture().cuts;
  switch (colours_) {
    case NetworkColours::config:
      for (std::size_t i = 0; i < std::min(cuts.size(), kMost); ++i) {
        entries.push_back({category_colour(i, theme_), human_config(cuts[i])});
      }
      if (cuts.size() > kMost) {
        entries.push_back({theme_.grid, painter_words("and %1 more").arg(cuts.size() - kMost)});
      }
      break;
    case NetworkColours::cost:
      for (const double share : {0.0, 0.5, 1.0}) {
        entries.push_back({scale_colour(share, theme_), human_seconds(share * most_)});
      }
      break;
    case NetworkColours::op:
      for (std::size_t i = 0; i < std::min(ops_.size(), kMost); ++i) {
        entries.push_back({category_colour(i, theme_), QString::fromStdString(ops_[i])});
      }
      break;
  }
  return entries;
}

void paint_lock(QPainter& painter, const QRectF& where, const QColor& colour) {
  painter.save();
  painter.setPen(QPen(colour, 1.6));
  painter.setBrush(Qt::NoBrush);
  const double half = where.height() / 2;
  painter.drawArc(where.adjusted(2, 0.5, -2, 1 - half + 4), 0, 180 * 16);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour);
  painter.drawRoundedRect(where.adjusted(0.5, half - 1, -0.5, 0), 1.5, 1.5);
  painter.restore();
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
