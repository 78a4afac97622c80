// One node of a network's graph: its picture, its words, its cost.

#include <QCoreApplication>
#include <QFontMetricsF>
#include <utility>

#include "gui/models/text.h"
#include "gui/widgets/network/config_picture.h"
#include "gui/widgets/network/network_painter.h"

namespace strata::gui {
namespace {

constexpr double kPicture = 40, kPad = 8, kBar = 5;

}  // namespace

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
  const QString cut =
      node.mixed() ? QCoreApplication::translate("NetworkPainter", "%1 cuts").arg(node.cuts.size())
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

}  // namespace strata::gui
