// How the cluster is painted: frames, links under nodes, then what the picked link says of itself.

#include <algorithm>

#include "gui/models/text.h"
#include "gui/widgets/cluster/cluster_canvas.h"
#include "gui/widgets/theme.h"

namespace strata::gui {
namespace {

constexpr double kReadable = 7;  // pixels of a font that can be read

// Writes one line that fits the box's height, or nothing where nobody could read it.
void write_into(QPainter& painter, const QRectF& box, int flags, const QString& text) {
  const double size = std::min<double>(box.height() * 0.78, QFontInfo(painter.font()).pixelSize());
  if (size < kReadable) return;
  painter.save();
  QFont font = painter.font();
  font.setPixelSize(static_cast<int>(size));
  painter.setFont(font);
  const QString fits =
      painter.fontMetrics().elidedText(text, Qt::ElideMiddle, static_cast<int>(box.width()));
  if (fits.size() > 1) painter.drawText(box, flags, fits);
  painter.restore();
}

}  // namespace

void ClusterCanvas::paint_sheet(QPainter& painter) const {
  paint_frames(painter);
  paint_edges(painter);
  paint_nodes(painter);
  paint_labels(painter);
}

void ClusterCanvas::paint_frames(QPainter& painter) const {
  const Theme theme = theme_of(palette());
  for (const MapFrame& frame : map_.frames) {
    const QRectF box = view().to_widget(frame.box);
    painter.setPen(theme.grid);
    painter.setBrush(palette().color(QPalette::AlternateBase));
    painter.drawRoundedRect(box, 6, 6);
    painter.setPen(theme.faint);
    const double line = 20 * view().scale();
    write_into(painter, {box.left() + 7, box.top() + 1, box.width() - 14, line},
               (frame.name_right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter,
               QString::fromStdString(frame.name));
  }
}

void ClusterCanvas::paint_nodes(QPainter& painter) const {
  for (const MapNode& node : map_.nodes) paint_node(painter, node);
}

// A host's rim has the colour of its most used inner link.
void ClusterCanvas::paint_node(QPainter& painter, const MapNode& node) const {
  const Theme theme = theme_of(palette());
  const QRectF box = view().to_widget(node.box);
  const bool chosen = device_ && std::find(node.devices.begin(), node.devices.end(), *device_) !=
                                     node.devices.end();
  const double inner = heat(node.inside);
  const double round = node.kind == MapNodeKind::network ? box.height() / 2 : 4;
  painter.setPen(QPen(theme.faint, 1));
  if (inner > 0) painter.setPen(QPen(link_colour(inner), 2));
  if (chosen) painter.setPen(QPen(theme.accent, 3));
  painter.setBrush(
      palette().color(node.kind == MapNodeKind::network ? QPalette::Window : QPalette::Button));
  painter.drawRoundedRect(box, round, round);
  paint_busy(painter, node);
  paint_name(painter, node);
}

// The share of a step that its busiest device computes, as a bar at its foot.
void ClusterCanvas::paint_busy(QPainter& painter, const MapNode& node) const {
  if (node.devices.empty()) return;
  const Theme theme = theme_of(palette());
  double busy = 0;
  for (const DeviceId device : node.devices) busy = std::max(busy, scene_->use.devices[device()]);
  const QRectF box = view().to_widget(node.box);
  const double high = 4 * std::min(1.0, view().scale());
  const QRectF all(box.left() + 4, box.bottom() - high - 2, box.width() - 8, high);
  painter.fillRect(all, theme.grid);
  painter.fillRect(QRectF(all.topLeft(), QSizeF(all.width() * std::min(1.0, busy), high)),
                   theme.accent);
}

void ClusterCanvas::paint_name(QPainter& painter, const MapNode& node) const {
  const double foot = node.devices.empty() ? 0 : 4 * std::min(1.0, view().scale()) + 2;
  const QRectF box = view().to_widget(node.box).adjusted(3, 0, -3, -foot);
  const QString name = QString::fromStdString(node.short_name());
  const QString count = counted(node.devices.size(), tr("device"));
  const bool two = node.kind == MapNodeKind::host && box.height() > 2.6 * kReadable;
  painter.setPen(palette().color(QPalette::ButtonText));
  if (!two) return write_into(painter, box, Qt::AlignCenter, name);
  const QSizeF half(box.width(), box.height() / 2);
  write_into(painter, {box.topLeft(), half}, Qt::AlignCenter, name);
  painter.setPen(theme_of(palette()).faint);
  write_into(painter, {box.left(), box.center().y(), half.width(), half.height()}, Qt::AlignCenter,
             count);
}

}  // namespace strata::gui
