#include "gui/models/cluster/cluster_map.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "gui/models/cluster/cluster_parts.h"

namespace strata::gui {
namespace {

constexpr double kWide = 76, kHigh = 30, kApart = 16, kFrameSpace = 14, kTitle = 18, kStreet = 70;
constexpr double kOval = 1.6;    // of rings: wider than high, so that names have room
constexpr std::size_t kRow = 4;  // devices beside each other

class MapMaker {
 public:
  MapMaker(const Cluster& cluster, bool folded, double aspect)
      : cluster_(cluster), parts_(parts_of(cluster)), aspect_(aspect) {
    map_.folded = folded && !parts_.hosts.empty();
  }

  ClusterMap make() && {
    map_.folded ? make_hosts() : make_parts();
    make_edges();
    place();
    for (const MapNode& node : map_.nodes) map_.bounds |= node.box;
    for (const MapFrame& frame : map_.frames) map_.bounds |= frame.box;
    map_.bounds.adjust(-kApart, -kApart, kApart, kApart);
    return std::move(map_);
  }

 private:
  // The shortest name of several: "host0/switch" of it and its ports.
  std::string name_of(const std::vector<std::uint32_t>& part) const {
    std::string best = both_ways(cluster_.vertex_name(part.front()));
    for (const std::uint32_t vertex : part) {
      const std::string name = both_ways(cluster_.vertex_name(vertex));
      if (name.size() < best.size()) best = name;
    }
    return best;
  }

  void add_part(std::size_t part) {
    MapNode node{MapNodeKind::network, name_of(parts_.parts[part]), {}, {}, {}, {}};
    if (!map_.folded) node.host = parts_.host[part];
    if (parts_.is_device(part, cluster_)) {
      node.kind = MapNodeKind::device;
      node.devices.emplace_back(parts_.parts[part].front());
    }
    node_of_[part] = map_.nodes.size();
    map_.nodes.push_back(std::move(node));
  }

  void make_parts() {
    for (std::size_t part = 0; part < parts_.parts.size(); ++part) add_part(part);
  }

  void make_hosts() {
    for (const std::string& host : parts_.hosts) {
      map_.nodes.push_back({MapNodeKind::host, host, {}, {}, {}, {}});
    }
    for (std::size_t part = 0; part < parts_.parts.size(); ++part) {
      if (!parts_.host[part]) {
        add_part(part);
        continue;
      }
      node_of_[part] = *parts_.host[part];
      if (!parts_.is_device(part, cluster_)) continue;
      map_.nodes[*parts_.host[part]].devices.emplace_back(parts_.parts[part].front());
    }
  }

  void make_edges() {
    std::map<std::pair<std::size_t, std::size_t>, MapEdge> edges;
    for (std::size_t i = 0; i < cluster_.links().size(); ++i) {
      const Link& link = cluster_[LinkId(i)];
      const std::size_t a = node_of_.at(parts_.part_of[link.from]);
      const std::size_t b = node_of_.at(parts_.part_of[link.to]);
      if (a == b && link.bandwidth < kNoLimit) map_.nodes[a].inside.emplace_back(i);
      if (a == b) continue;
      MapEdge& edge = edges[std::minmax(a, b)];
      edge.from = std::min(a, b);
      edge.to = std::max(a, b);
      (a < b ? edge.there : edge.back).emplace_back(i);
    }
    for (auto& [ends, edge] : edges) map_.edges.push_back(std::move(edge));
  }

  void place() {
    if (parts_.hosts.empty()) {
      place_circle(all_nodes(), 0);
      return;
    }
    if (map_.folded) return place_blocks(kWide * 1.4, kHigh * 1.5);
    QRectF inside;
    for (std::size_t host = 0; host < parts_.hosts.size(); ++host) {
      inside |= place_host(host, true);
    }
    place_blocks(inside.width() + 2 * kFrameSpace, inside.height() + 2 * kFrameSpace + kTitle);
  }

  std::vector<std::size_t> all_nodes() const {
    std::vector<std::size_t> nodes(map_.nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = i;
    return nodes;
  }

  std::vector<std::size_t> nodes_of(std::size_t host, MapNodeKind kind) const {
    std::vector<std::size_t> nodes;
    for (std::size_t i = 0; i < map_.nodes.size(); ++i) {
      if (map_.nodes[i].host == host && map_.nodes[i].kind == kind) nodes.push_back(i);
    }
    return nodes;
  }

  static QRectF box_at(const QPointF& centre, double wide = kWide, double high = kHigh) {
    return {centre.x() - wide / 2, centre.y() - high / 2, wide, high};
  }

  // `turn`: by a part of the way from one to the next.
  QRectF place_circle(const std::vector<std::size_t>& nodes, double turn) {
    const double count = static_cast<double>(nodes.size());
    const double radius = std::max(kWide, count * (kWide + kApart) / (2 * std::numbers::pi));
    QRectF around;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const double part = (static_cast<double>(i) + turn) / count - 0.25;
      const double angle = 2 * std::numbers::pi * part;
      QRectF& box = map_.nodes[nodes[i]].box;
      box = box_at({kOval * radius * std::cos(angle), radius * std::sin(angle)});
      around |= box;
    }
    return around;
  }

  QRectF place_row(const std::vector<std::size_t>& nodes, double y) {
    QRectF around;
    const double middle = static_cast<double>(nodes.size() - 1) / 2;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const double x = (static_cast<double>(i) - middle) * (kWide + kApart);
      map_.nodes[nodes[i]].box = box_at({x, y});
      around |= map_.nodes[nodes[i]].box;
    }
    return around;
  }

  bool joined_directly(const std::vector<std::size_t>& devices) const {
    return std::any_of(map_.edges.begin(), map_.edges.end(), [&](const MapEdge& edge) {
      return std::find(devices.begin(), devices.end(), edge.from) != devices.end() &&
             std::find(devices.begin(), devices.end(), edge.to) != devices.end();
    });
  }

  QRectF place_rows(const std::vector<std::size_t>& nodes, double top) {
    QRectF around;
    for (std::size_t i = 0; i < nodes.size(); i += kRow) {
      const auto begin = nodes.begin() + static_cast<std::ptrdiff_t>(i);
      const auto count = static_cast<std::ptrdiff_t>(std::min(kRow, nodes.size() - i));
      around |= place_row({begin, begin + count}, top);
      top += kHigh + 2.2 * kApart;
    }
    return around;
  }

  // Around the origin: devices in a ring where they are joined with each other, else in rows; what
  // else the host has on the side of the street.
  QRectF place_host(std::size_t host, bool street_above) {
    const std::vector<std::size_t> devices = nodes_of(host, MapNodeKind::device);
    const std::vector<std::size_t> switches = nodes_of(host, MapNodeKind::network);
    const bool ring = devices.size() > 2 && joined_directly(devices);
    QRectF around = ring ? place_circle(devices, -0.5) : place_rows(devices, 0);
    const std::size_t rows = (switches.size() + kRow - 1) / kRow;
    const double high = static_cast<double>(rows) * (kHigh + 2.2 * kApart);
    if (rows == 0) return around;
    const double top = street_above ? around.top() - high : around.bottom() + 2.2 * kApart;
    around |= place_rows(switches, top + kHigh / 2);
    return around;
  }

  // Hosts in rows above and below a street, on which stands what joins them.
  void place_blocks(double wide, double high) {
    const std::size_t count = parts_.hosts.size();
    const bool street = !outside().empty();
    const double square = std::sqrt(static_cast<double>(count) * aspect_ * high / wide);
    std::size_t columns = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(square)));
    if (street && count <= 16) columns = std::max(columns, (count + 1) / 2);
    columns = std::min(columns, count);
    const std::size_t rows = (count + columns - 1) / columns, above = (rows + 1) / 2;
    for (std::size_t host = 0; host < count; ++host) {
      const std::size_t row = host / columns, column = host % columns;
      const double x = static_cast<double>(column) * (wide + kApart);
      const double y =
          static_cast<double>(row) * (high + kApart) + (street && row >= above ? kStreet : 0);
      if (street && row < above && !map_.folded) place_host(host, false);
      place_block(host, QRectF(x, y, wide, high));
    }
    const double width = static_cast<double>(columns) * (wide + kApart) - kApart;
    const double middle =
        static_cast<double>(above) * (high + kApart) - kApart + (kStreet + kApart) / 2;
    const auto nodes = outside();
    const double apart = width / static_cast<double>(nodes.size() + 1);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      map_.nodes[nodes[i]].box = box_at({apart * static_cast<double>(i + 1), middle});
    }
  }

  void place_block(std::size_t host, const QRectF& block) {
    if (map_.folded) {
      map_.nodes[host].box = block;
      return;
    }
    map_.frames.push_back({parts_.hosts[host], block});
    QRectF inside;
    for (const MapNode& node : map_.nodes) {
      if (node.host == host) inside |= node.box;
    }
    const QPointF free(block.left() + (block.width() - inside.width()) / 2 - inside.left(),
                       block.bottom() - kFrameSpace - inside.bottom());
    for (MapNode& node : map_.nodes) {
      if (node.host == host) node.box.translate(free);
    }
  }

  std::vector<std::size_t> outside() const {
    std::vector<std::size_t> nodes;
    for (std::size_t i = 0; i < map_.nodes.size(); ++i) {
      const MapNode& node = map_.nodes[i];
      if (!node.host && node.kind != MapNodeKind::host) nodes.push_back(i);
    }
    return nodes;
  }

  const Cluster& cluster_;
  ClusterParts parts_;
  double aspect_;
  ClusterMap map_;
  std::map<std::size_t, std::size_t> node_of_;  // by part
};

double distance_to_line(const QPointF& at, const QPointF& a, const QPointF& b) {
  const QPointF along = b - a, to = at - a;
  const double length = QPointF::dotProduct(along, along);
  const double t = length == 0 ? 0 : std::clamp(QPointF::dotProduct(to, along) / length, 0.0, 1.0);
  const QPointF away = to - t * along;
  return std::sqrt(QPointF::dotProduct(away, away));
}

}  // namespace

std::optional<std::size_t> ClusterMap::node_at(const QPointF& at) const {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].box.contains(at)) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> ClusterMap::node_of(DeviceId device) const {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& held = nodes[i].devices;
    if (std::find(held.begin(), held.end(), device) != held.end()) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> ClusterMap::edge_at(const QPointF& at, double near) const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const double away =
        distance_to_line(at, nodes[edges[i].from].box.center(), nodes[edges[i].to].box.center());
    if (away > near) continue;
    near = away;
    best = i;
  }
  return best;
}

ClusterMap map_of(const Cluster& cluster, bool folded, double aspect) {
  return MapMaker(cluster, folded, aspect).make();
}

}  // namespace strata::gui
