// How links are painted, what the picked one says, and what the colours mean.

#include <algorithm>
#include <cmath>

#include "gui/models/text.h"
#include "gui/widgets/cluster/cluster_canvas.h"
#include "gui/widgets/legend.h"
#include "gui/widgets/theme.h"

namespace strata::gui {
namespace {

QPen unused_pen(const Theme& theme) {
  return QPen(see_through(theme.faint, 0.45), 1, Qt::DotLine);
}

}  // namespace

// What carries anything is never as pale as what carries nothing.
QColor ClusterCanvas::link_colour(double heat) const {
  return scale_colour(0.3 + 0.7 * heat, theme_of(palette()));
}

// What is used over what is not, and the picked one over all.
void ClusterCanvas::paint_edges(QPainter& painter) const {
  for (const int layer : {0, 1, 2}) {
    for (const MapEdge& edge : map_.edges) {
      for (const bool back : {false, true}) {
        const auto& links = back ? edge.back : edge.there;
        if (links.empty()) continue;
        const int its = holds(links) ? 2 : heat(links) > 0 ? 1 : 0;
        if (its == layer) paint_arrow(painter, line_of(edge, back), links);
      }
    }
  }
}

// Of a folded map: hundreds of lines meet at one switch, and arrows would hide each other.
void ClusterCanvas::paint_thin(QPainter& painter, const Line& line, double hot) const {
  painter.setPen(QPen(see_through(link_colour(hot), 0.4), 1));
  painter.drawLine(line.a, line.b);
}

void ClusterCanvas::paint_unused(QPainter& painter, const Line& line) const {
  painter.setPen(unused_pen(theme_of(palette())));
  painter.drawLine(line.a, line.b);
}

// Thicker where more goes through, with a head in its direction.
void ClusterCanvas::paint_arrow(QPainter& painter, const Line& line,
                                const std::vector<LinkId>& links) const {
  const Theme theme = theme_of(palette());
  const double hot = heat(links);
  const QPointF along = line.b - line.a;
  const double length = std::hypot(along.x(), along.y());
  if (length < 2) return;
  if (holds(links)) {
    painter.setPen(QPen(see_through(theme.accent, 0.4), 11, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(line.a, line.b);
  }
  if (hot <= 0) return paint_unused(painter, line);
  if (map_.folded && !holds(links)) return paint_thin(painter, line, hot);
  const QColor colour = link_colour(hot);
  const QPointF unit = along / length, aside(-unit.y(), unit.x());
  const double head = std::min(7.0, length / 3);
  painter.setPen(QPen(colour, 1.5 + 2.5 * hot, Qt::SolidLine, Qt::FlatCap));
  painter.drawLine(line.a, line.b - unit * head);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour);
  const QPointF base = line.b - unit * head;
  painter.drawPolygon(QPolygonF({line.b, base + aside * head * 0.6, base - aside * head * 0.6}));
}

// Of the picked link alone: the table beside has the rest.
void ClusterCanvas::paint_labels(QPainter& painter) const {
  if (!link_ || link_->value >= scene_->input.cluster.links().size()) return;
  const QPointF at = place_of(*link_);
  if (at.isNull()) return;
  const Theme theme = theme_of(palette());
  const Link& link = scene_->input.cluster[*link_];
  QString text = link.bandwidth < kNoLimit ? human_rate(link.bandwidth) : tr("no limit");
  if ((*link_)() < use_.share.size())
    text += QStringLiteral(" · ") + human_share(use_.share[(*link_)()]);
  QRectF box = painter.fontMetrics().boundingRect(text);
  box.adjust(-5, -2, 5, 2);
  box.moveCenter(at);
  box.moveLeft(std::clamp(box.left(), 2.0, std::max(2.0, width() - box.width() - 2)));
  painter.setPen(theme.accent);
  painter.setBrush(theme.background);
  painter.drawRoundedRect(box, 3, 3);
  painter.setPen(theme.text);
  painter.drawText(box, Qt::AlignCenter, text);
}

void ClusterCanvas::paint_legend(QPainter& painter) const {
  const Theme theme = theme_of(palette());
  const double top = room().bottom() + 2;
  LegendLine legend(painter, QRectF(0, top, width(), height() - top), theme);
  const bool use = by_ == LinkColour::use;
  if (most_ <= 0) return legend.words(tr("Nothing crosses a link in this time"));
  legend.words(use ? tr("Use of each link") : tr("Bytes over each link"));
  legend.stroke(unused_pen(theme), tr("none"));
  legend.scale([this](double heat) { return link_colour(heat); }, use ? tr("0 %") : human_bytes({}),
               use ? tr("100 %") : human_bytes({std::llround(most_)}));
  if (use) legend.words(tr("the most: %1").arg(human_share(most_)));
  legend.words(map_.folded ? tr("bar: busiest device  ·  rim: inner links")
                           : tr("bar: share of a step that it computes"));
}

}  // namespace strata::gui
