// One node of a network's graph: its picture, its words, its cost.

#include <QCoreApplication>
#include <QFontMetricsF>
#include <algorithm>
#include <utility>

#include "gui/models/short_name.h"
#include "gui/models/text.h"
#include "gui/widgets/network/config_picture.h"
#include "gui/widgets/network/network_painter.h"

namespace strata::gui {
namespace {

constexpr double kPicture = 40, kPad = 8, kBar = 5;

QString cut_text(const NetworkNode& node) {
  if (!node.mixed()) return human_config(node.cuts.front());
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

QString name_in(const QFontMetricsF& metrics, const NetworkNode& node, double width) {
  return elided_name(QString::fromStdString(node.name), node.shared, width, metrics);
}

}  // namespace

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
  paint_config(painter, where, node.cuts.front().degrees, mix(base, theme_.background, 0.25),
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
  painter.setFont(font);
  painter.setPen(theme_.text);
  const QRectF beside(line.left() + side + 8, top.bottom(), line.width() - side - 8, side);
  painter.drawText(beside, Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(font).elidedText(cut_text(node), Qt::ElideRight, beside.width()));
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
  line(37, 15, font_, theme_.text, cut_text(node), right - wide - 6);
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

}  // namespace strata::gui
