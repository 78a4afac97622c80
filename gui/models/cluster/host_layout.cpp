#include "gui/models/cluster/host_layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace strata::gui {
namespace {

constexpr double kBeneath = 22;  // between nodes beneath each other
constexpr double kOval = 1.25;   // of rings: wider than high, so that names have room
constexpr std::size_t kRow = 8;  // nodes beside each other

constexpr QPointF kAcross(kNodeWide + kNodesApart, 0), kDown(0, kNodeHigh + kBeneath);

MapNodes of_kind(const ClusterMap& map, const MapNodes& nodes, MapNodeKind kind) {
  MapNodes some;
  for (const std::size_t node : nodes) {
    if (map.nodes[node].kind == kind) some.push_back(node);
  }
  return some;
}

// In lines of a few, each with its middle on `middle`, and the next one `further`.
void place_lines(ClusterMap& map, const MapNodes& nodes, QPointF middle, const QPointF& along,
                 const QPointF& further) {
  for (std::size_t first = 0; first < nodes.size(); first += kRow, middle += further) {
    const std::size_t count = std::min(kRow, nodes.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      const double off = static_cast<double>(i) - static_cast<double>(count - 1) / 2;
      map.nodes[nodes[first + i]].box = node_box(middle + off * along);
    }
  }
}

bool joined_directly(const ClusterMap& map, const MapNodes& devices) {
  const auto is_one = [&](std::size_t node) {
    return std::binary_search(devices.begin(), devices.end(), node);
  };
  return std::any_of(map.edges.begin(), map.edges.end(),
                     [&](const MapEdge& edge) { return is_one(edge.from) && is_one(edge.to); });
}

// Those that lead out of the host, or those that do not.
MapNodes leading_out(const ClusterMap& map, std::size_t host, const MapNodes& nodes, bool out) {
  MapNodes some;
  for (const std::size_t node : nodes) {
    const bool leads = std::any_of(map.edges.begin(), map.edges.end(), [&](const MapEdge& edge) {
      return (edge.from == node && map.nodes[edge.to].host != host) ||
             (edge.to == node && map.nodes[edge.from].host != host);
    });
    if (leads == out) some.push_back(node);
  }
  return some;
}

QPointF towards(StreetSide street) {
  switch (street) {
    case StreetSide::above:
      return {0, -1};
    case StreetSide::below:
      return {0, 1};
    case StreetSide::left:
      return {-1, 0};
    default:
      return {1, 0};
  }
}

}  // namespace

QRectF node_box(const QPointF& centre) {
  return {centre.x() - kNodeWide / 2, centre.y() - kNodeHigh / 2, kNodeWide, kNodeHigh};
}

QRectF box_around(const ClusterMap& map, const MapNodes& nodes) {
  QRectF box;
  for (const std::size_t node : nodes) box |= map.nodes[node].box;
  return box;
}

MapNodes nodes_of_host(const ClusterMap& map, std::size_t host) {
  MapNodes nodes;
  for (std::size_t i = 0; i < map.nodes.size(); ++i) {
    if (map.nodes[i].host == host) nodes.push_back(i);
  }
  return nodes;
}

void place_circle(ClusterMap& map, const MapNodes& nodes, double turn) {
  const double count = static_cast<double>(nodes.size());
  const double radius =
      std::max(64.0, count * (kNodeWide + kNodesApart) / (2 * std::numbers::pi * kOval));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double part = (static_cast<double>(i) + turn) / count - 0.25;
    const double angle = 2 * std::numbers::pi * part;
    map.nodes[nodes[i]].box =
        node_box({kOval * radius * std::cos(angle), radius * std::sin(angle)});
  }
}

QRectF place_host(ClusterMap& map, std::size_t host, StreetSide street) {
  const MapNodes held = nodes_of_host(map, host);
  const MapNodes devices = of_kind(map, held, MapNodeKind::device);
  const bool level = street == StreetSide::above || street == StreetSide::below;
  const QPointF along = level ? kAcross : kDown, further = level ? kDown : kAcross;
  if (devices.size() > 2 && joined_directly(map, devices)) {
    place_circle(map, devices, -0.5);
  } else {
    place_lines(map, devices, {}, along, further);
  }
  const QRectF inner = box_around(map, devices);
  const QPointF way((inner.width() + kNodeWide) / 2 + kBeneath,
                    (inner.height() + kNodeHigh) / 2 + kBeneath);
  const MapNodes switches = of_kind(map, held, MapNodeKind::network);
  for (const bool out : {true, false}) {
    const QPointF side = out ? towards(street) : -towards(street);
    const QPointF first = inner.center() + QPointF(side.x() * way.x(), side.y() * way.y());
    place_lines(map, leading_out(map, host, switches, out), first, along,
                side.x() + side.y() < 0 ? -further : further);
  }
  return box_around(map, held);
}

}  // namespace strata::gui
