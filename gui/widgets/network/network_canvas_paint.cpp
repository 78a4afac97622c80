// How a NetworkCanvas is painted, in a window and into a file.

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/widgets/network/network_canvas.h"

namespace strata::gui {

QString NetworkCanvas::placeholder() const {
  return tr("No network yet.\nOpen one, or drop a .toml or .onnx file here.");
}

NetworkPainter NetworkCanvas::painter_of_nodes() const {
  return {map_, theme_of(palette()), colours_, font()};
}

void NetworkCanvas::paint_sheet(QPainter& painter) const {
  NetworkPainter network = painter_of_nodes();
  network.current = hasFocus() ? current_ : std::nullopt;
  network.hovered = hovered_;
  network.found = found_;
  network.found.insert(painted_.begin(), painted_.end());
  painter.save();
  const double scale = view().scale();
  painter.translate(view().offset());
  painter.scale(scale, scale);
  network.paint(painter, scale, QRectF(view().to_sheet({0, 0}), QSizeF(size()) / scale));
  painter.restore();
}

void NetworkCanvas::paint_legend(QPainter& painter) const {
  paint_legend(painter, painter_of_nodes(), size());
}

double NetworkCanvas::whole_scale() const {
  constexpr double kMostPixels = 4e6;
  const QSizeF sheet = map_.sheet().bounds.size();
  const double pixels = std::max(sheet.width() * sheet.height(), 1.0);
  return std::min(1.0, std::sqrt(kMostPixels / pixels));
}

QSize NetworkCanvas::whole_size() const {
  if (!map_.scene()) return size();
  const QSize sheet = (map_.sheet().bounds.size() * whole_scale()).toSize();
  return sheet.expandedTo(minimumSizeHint()) + QSize(0, kLegendHeight);
}

void NetworkCanvas::paint_whole(QPainter& painter) const {
  painter.fillRect(QRect(QPoint(), whole_size()), theme_of(palette()).background);
  if (!map_.scene()) return;
  const NetworkPainter network = painter_of_nodes();
  const QRectF sheet = map_.sheet().bounds;
  painter.save();
  painter.scale(whole_scale(), whole_scale());
  painter.translate(-sheet.topLeft());
  network.paint(painter, whole_scale(), sheet);
  painter.restore();
  paint_legend(painter, network, whole_size());
}

// One line below the sheet, which leaves it free. What has no room there is left out.
void NetworkCanvas::paint_legend(QPainter& painter, const NetworkPainter& network,
                                 const QSizeF& size) const {
  const Theme theme = theme_of(palette());
  QFont font = painter.font();
  font.setPixelSize(12);
  painter.setFont(font);
  const QFontMetricsF metrics(font);
  QRectF room(8, size.height() - kLegendHeight, size.width() - 16, kLegendHeight);
  painter.fillRect(QRectF(0, room.top(), size.width(), room.height()), theme.background);
  const auto write = [&](const QString& text, const QColor& colour) {
    painter.setPen(colour);
    painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter, text);
    room.setLeft(room.left() + metrics.horizontalAdvance(text) + 16);
  };
  write(legend_title(colours_), theme.faint);
  for (const ColourMeaning& entry : network.legend()) {
    if (metrics.horizontalAdvance(entry.text) + 18 > room.width()) return;
    painter.fillRect(QRectF(room.left(), room.center().y() - 6, 12, 12), entry.colour);
    room.setLeft(room.left() + 18);
    write(entry.text, theme.text);
  }
}

}  // namespace strata::gui
