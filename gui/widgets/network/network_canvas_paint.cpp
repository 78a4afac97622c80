// How a NetworkCanvas is painted, in a window and into a file.

#include <algorithm>
#include <cmath>

#include "gui/widgets/legend.h"
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

// One line below the sheet, which leaves it free.
void NetworkCanvas::paint_legend(QPainter& painter, const NetworkPainter& network,
                                 const QSizeF& size) const {
  const QRectF line(0, size.height() - kLegendHeight, size.width(), kLegendHeight);
  LegendLine legend(painter, line, theme_of(palette()));
  legend.words(legend_title(colours_));
  for (const ColourMeaning& entry : network.legend()) legend.square(entry.colour, entry.text);
}

}  // namespace strata::gui
