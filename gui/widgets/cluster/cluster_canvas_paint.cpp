// How the cluster is painted: frames, links under nodes, then what the links say of themselves.

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "gui/models/text.h"
#include "gui/widgets/cluster/cluster_canvas.h"
#include "gui/widgets/theme.h"

namespace strata::gui {
namespace {

constexpr double kNamesScale = 0.55;  // names smaller than that of a screen's are left out

}  // namespace

void ClusterCanvas::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), theme_of(palette()).background);
  if (!scene_) return;
  paint_frames(painter);
  paint_edges(painter);
  paint_nodes(painter);
  paint_labels(painter);
  paint_legend(painter);
}

void ClusterCanvas::paint_frames(QPainter& painter) const {
  const Theme theme = theme_of(palette());
  for (const MapFrame& frame : map_.frames) {
    const QRectF box = to_screen(frame.box);
    painter.setPen(theme.grid);
    painter.setBrush(palette().color(QPalette::AlternateBase));
    painter.drawRoundedRect(box, 6, 6);
    if (scale_ < kNamesScale) continue;
    painter.setPen(theme.faint);
    const QRectF line = box.adjusted(8, 3, -8, 0);
    painter.drawText(
        line, Qt::AlignLeft | Qt::AlignTop,
        painter.fontMetrics().elidedText(QString::fromStdString(frame.name), Qt::ElideRight,
                                         static_cast<int>(line.width())));
  }
}

void ClusterCanvas::paint_edges(QPainter& painter) const {
  for (const bool chosen : {false, true}) {
    for (const MapEdge& edge : map_.edges) {
      for (const bool back : {false, true}) {
        const auto& links = back ? edge.back : edge.there;
        if (links.empty() || holds(links) != chosen) continue;
        paint_arrow(painter, line_of(edge, back), links);
      }
    }
  }
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
    painter.setPen(QPen(theme.accent, 8, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(line.a, line.b);
  }
  const QColor colour = scale_colour(hot, theme);
  const QPointF unit = along / length, aside(-unit.y(), unit.x());
  const double head = std::min(7.0, length / 3);
  painter.setPen(QPen(colour, 1.6 + 2.6 * std::min(1.0, hot), Qt::SolidLine, Qt::FlatCap));
  painter.drawLine(line.a, line.b - unit * head);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour);
  const QPointF base = line.b - unit * head;
  painter.drawPolygon(QPolygonF({line.b, base + aside * head * 0.5, base - aside * head * 0.5}));
}

void ClusterCanvas::paint_nodes(QPainter& painter) const {
  for (const MapNode& node : map_.nodes) paint_node(painter, node);
}

void ClusterCanvas::paint_node(QPainter& painter, const MapNode& node) const {
  const Theme theme = theme_of(palette());
  const QRectF box = to_screen(node.box);
  const bool chosen = device_ && std::find(node.devices.begin(), node.devices.end(), *device_) !=
                                     node.devices.end();
  const double round = node.kind == MapNodeKind::network ? box.height() / 2 : 4;
  painter.setPen(QPen(chosen ? theme.accent : theme.faint, chosen ? 3 : 1));
  painter.setBrush(
      palette().color(node.kind == MapNodeKind::network ? QPalette::Window : QPalette::Button));
  painter.drawRoundedRect(box, round, round);
  double busy = 0;
  for (const DeviceId device : node.devices) busy = std::max(busy, scene_->use.devices[device()]);
  if (!node.devices.empty()) {
    const QRectF all = QRectF(box.left() + 3, box.bottom() - 5 * std::min(1.0, scale_) - 2,
                              box.width() - 6, 4 * std::min(1.0, scale_));
    painter.fillRect(all, theme.grid);
    painter.fillRect(QRectF(all.topLeft(), QSizeF(all.width() * std::min(1.0, busy), all.height())),
                     theme.accent);
  }
  if (scale_ < kNamesScale) return;
  painter.setPen(palette().color(QPalette::ButtonText));
  QString name = QString::fromStdString(node.name);
  if (node.kind != MapNodeKind::host && node.host && name.contains(QLatin1Char('/'))) {
    name = name.section(QLatin1Char('/'), -1);  // its frame says the rest
  }
  if (node.kind == MapNodeKind::host) {
    name += QLatin1Char('\n') + counted(node.devices.size(), tr("device"));
  }
  QStringList lines;
  for (const QString& line : name.split(QLatin1Char('\n'))) {
    lines << painter.fontMetrics().elidedText(line, Qt::ElideMiddle,
                                              static_cast<int>(box.width()) - 6);
  }
  painter.drawText(box.adjusted(2, 0, -2, node.devices.empty() ? 0 : -4), Qt::AlignCenter,
                   lines.join(QLatin1Char('\n')));
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
  const int line = fontMetrics().height();
  const QString low = QStringLiteral("0");
  const QString high =
      by_ == LinkColour::use ? QStringLiteral("100 %") : human_bytes({std::llround(most_bytes_)});
  const QString what = by_ == LinkColour::use ? tr("Use of each link") : tr("Bytes over each link");
  double x = 8;
  const double y = height() - line - 5;
  painter.setPen(theme.faint);
  const auto write = [&](const QString& text) {
    const double wide = painter.fontMetrics().horizontalAdvance(text);
    painter.drawText(QRectF(x, y, wide + 2, line), Qt::AlignVCenter, text);
    x += wide + 8;
  };
  write(what);
  write(low);
  for (int i = 0; i < 40; ++i) {
    painter.fillRect(QRectF(x + i * 2.5, y + 3, 3, line - 6), scale_colour(i / 39.0, theme));
  }
  x += 108;
  write(high);
  if (width() > 620) write(tr("   bars: share of a step that a device computes"));
}

}  // namespace strata::gui
