#include "gui/widgets/network/network_canvas.h"

#include <algorithm>

#include "gui/models/text.h"

namespace strata::gui {

NetworkCanvas::NetworkCanvas(NetworkMap& map, QWidget* parent)
    : SheetCanvas({4, 1.25}, parent), map_(map) {
  setMouseTracking(true);
  setAccessibleName(tr("The network's graph"));
  connect(&map, &NetworkMap::changed, this, &NetworkCanvas::show_sheet);
  connect(&map, &NetworkMap::selection_changed, this, qOverload<>(&QWidget::update));
  connect(&map, &NetworkMap::rearranged, this, &NetworkCanvas::rearranged);
}

void NetworkCanvas::rearranged(bool other_network) {
  current_.reset();
  hovered_.reset();
  found_.clear();
  show_sheet();
  if (other_network) fit();
}

void NetworkCanvas::set_colours(NetworkColours colours) {
  colours_ = colours;
  update();
}

void NetworkCanvas::set_found(std::set<std::size_t> nodes) {
  found_ = std::move(nodes);
  update();
}

void NetworkCanvas::set_painting(bool painting) {
  painting_ = painting;
  setCursor(painting ? Qt::CrossCursor : Qt::ArrowCursor);
}

QRectF NetworkCanvas::sheet() const {
  return map_.scene() ? map_.sheet().bounds : QRectF();
}

QRectF NetworkCanvas::room() const {
  return QRectF(rect()).adjusted(0, 0, 0, -kLegendHeight);
}

void NetworkCanvas::show_node(std::size_t node) {
  const QRectF there = view().to_widget(map_.rect(node));
  const QRectF inside = QRectF(rect()).adjusted(20, 20, -20, -20);
  if (inside.contains(there)) return;
  pan(inside.center() - there.center());
}

QPointF NetworkCanvas::centre_of(std::size_t node) const {
  return view().to_widget(map_.rect(node).center());
}

std::optional<std::size_t> NetworkCanvas::node_at(const QPointF& position) const {
  const QPointF point = view().to_sheet(position);
  for (std::size_t i = 0; i < map_.picture().nodes.size(); ++i) {
    if (map_.rect(i).contains(point)) return i;
  }
  return std::nullopt;
}

void NetworkCanvas::set_current(std::optional<std::size_t> node) {
  current_ = node;
  update();
}

void NetworkCanvas::resizeEvent(QResizeEvent* event) {
  const double high = room().height();
  if (high > 0) map_.set_aspect(width() / high);
  SheetCanvas::resizeEvent(event);
}

QString NetworkCanvas::tip_at(const QPointF& at) const {
  const auto number = node_at(at);
  if (!number) return {};
  const NetworkNode& node = map_.picture().nodes[*number];
  const Part& part = map_.parts()[node.part];
  const Layer& last = map_.scene()->input.graph[part.layers.back()];
  QString text = QStringLiteral("<b>%1</b><br>%2")
                     .arg(QString::fromStdString(node.name).toHtmlEscaped(),
                          QString::fromStdString(node.op).toHtmlEscaped());
  QStringList extents;
  for (const Dim dim : kDims) {
    if (last.output[dim] > 1) extents << QString::number(last.output[dim]);
  }
  text += tr("<br>output %1").arg(extents.join(QStringLiteral(" × ")));
  for (const Config& cut : node.cuts) text += QStringLiteral("<br>") + human_config(cut);
  text += tr("<br>Eq. 1: compute %1, transfer %2, sync %3")
              .arg(human_seconds(node.terms.compute), human_seconds(node.terms.transfer),
                   human_seconds(node.terms.sync));
  if (node.locked > 0) text += tr("<br>locked");
  if (!part.children.empty()) text += tr("<br><i>double-click opens it</i>");
  return text;
}

}  // namespace strata::gui
