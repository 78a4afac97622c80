#include "gui/models/cluster/cluster_map.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "gui/models/cluster/cluster_layout.h"

namespace strata::gui {
namespace {

class MapMaker {
 public:
  MapMaker(const Cluster& cluster, bool folded, double aspect)
      : cluster_(cluster), parts_(parts_of(cluster)), aspect_(aspect) {
    map_.folded = folded && !parts_.hosts.empty();
  }

  ClusterMap make() && {
    map_.folded ? make_hosts() : make_parts();
    make_edges();
    lay_out(map_, parts_.hosts, aspect_);
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

std::string MapNode::short_name() const {
  const std::size_t slash = name.rfind('/');
  if (kind == MapNodeKind::host || !host || slash == std::string::npos) return name;
  return name.substr(slash + 1);
}

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
