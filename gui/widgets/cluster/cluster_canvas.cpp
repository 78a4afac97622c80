#include "gui/widgets/cluster/cluster_canvas.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::gui {
namespace {

constexpr double kLineClick = 7;  // pixels to a line that is meant
constexpr double kApart = 3;      // between the two directions, to each side

}  // namespace

ClusterCanvas::ClusterCanvas(QWidget* parent) : SheetCanvas({20, 1.8}, parent) {
  setAccessibleName(tr("Cluster"));
}

void ClusterCanvas::show_map(ClusterMap map, ScenePtr scene) {
  close_menu();
  const bool moved = map.bounds != map_.bounds;
  map_ = std::move(map);
  scene_ = std::move(scene);
  use_ = {};
  show_sheet();
  if (moved) fit();
}

void ClusterCanvas::show_use(LinkUse use) {
  use_ = std::move(use);
  find_most();
}

void ClusterCanvas::colour_by(LinkColour by) {
  by_ = by;
  find_most();
}

void ClusterCanvas::select(std::optional<LinkId> link, std::optional<DeviceId> device) {
  link_ = link;
  device_ = device;
  update();
}

// The legend keeps the lowest line for itself.
QRectF ClusterCanvas::room() const {
  return QRectF(rect()).adjusted(4, 4, -4, -2 * fontMetrics().height());
}

// From the rim of one box to that of the other; each direction keeps to its side.
ClusterCanvas::Line ClusterCanvas::line_of(const MapEdge& edge, bool back) const {
  const QRectF from = view().to_widget(map_.nodes[edge.from].box),
               to = view().to_widget(map_.nodes[edge.to].box);
  QPointF a = from.center(), b = to.center();
  const QPointF along = b - a;
  const double length = std::hypot(along.x(), along.y());
  if (length < 1) return {a, b};
  const auto rim = [&](const QRectF& box) {
    const double x = std::abs(along.x()) < 1e-9 ? 1e9 : box.width() / 2 / std::abs(along.x());
    const double y = std::abs(along.y()) < 1e-9 ? 1e9 : box.height() / 2 / std::abs(along.y());
    return along * std::min(x, y);
  };
  const QPointF aside = QPointF(-along.y(), along.x()) / length * (back ? -kApart : kApart);
  a += rim(from) + aside;
  b += aside - rim(to);
  return back ? Line{b, a} : Line{a, b};
}

std::optional<LinkId> ClusterCanvas::link_at(const QPointF& at) const {
  const auto found = map_.edge_at(view().to_sheet(at), kLineClick / view().scale());
  if (!found) return std::nullopt;
  const MapEdge& edge = map_.edges[*found];
  const QPointF a = map_.nodes[edge.from].box.center(),
                along = map_.nodes[edge.to].box.center() - a;
  const QPointF to = view().to_sheet(at) - a;
  const bool back = along.x() * to.y() - along.y() * to.x() < 0;
  const std::vector<LinkId>& links =
      (back ? !edge.back.empty() : edge.there.empty()) ? edge.back : edge.there;
  return *std::max_element(links.begin(), links.end(), [&](LinkId x, LinkId y) {
    return x() < use_.bytes.size() && y() < use_.bytes.size() && use_.bytes[x()] < use_.bytes[y()];
  });
}

QPointF ClusterCanvas::place_of(LinkId link) const {
  for (const MapEdge& edge : map_.edges) {
    for (const bool back : {false, true}) {
      const auto& links = back ? edge.back : edge.there;
      if (std::find(links.begin(), links.end(), link) == links.end()) continue;
      const Line line = line_of(edge, back);
      return (line.a + line.b) / 2;
    }
  }
  for (const MapNode& node : map_.nodes) {
    const bool within =
        std::find(node.inside.begin(), node.inside.end(), link) != node.inside.end();
    if (within) return view().to_widget(node.box.center());
  }
  return {};
}

QPointF ClusterCanvas::place_of(DeviceId device) const {
  const auto node = map_.node_of(device);
  return node ? view().to_widget(map_.nodes[*node].box.center()) : QPointF();
}

const std::vector<double>& ClusterCanvas::values() const {
  return by_ == LinkColour::use ? use_.share : use_.bytes;
}

void ClusterCanvas::find_most() {
  most_ = 0;
  for (const double value : values()) most_ = std::max(most_, value);
  update();
}

double ClusterCanvas::value(const std::vector<LinkId>& links) const {
  double most = 0;
  for (const LinkId link : links) {
    if (link() < values().size()) most = std::max(most, values()[link()]);
  }
  return most;
}

double ClusterCanvas::heat(const std::vector<LinkId>& links) const {
  if (by_ == LinkColour::use) return std::min(value(links), 1.0);
  return most_ > 0 ? value(links) / most_ : 0;
}

bool ClusterCanvas::holds(const std::vector<LinkId>& links) const {
  return link_ && std::find(links.begin(), links.end(), *link_) != links.end();
}

void ClusterCanvas::resizeEvent(QResizeEvent* event) {
  SheetCanvas::resizeEvent(event);
  emit reshaped();
}

}  // namespace strata::gui
