#include "gui/models/cluster/cluster_layout.h"

#include <QSizeF>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <string_view>

namespace strata::gui {
namespace {

constexpr double kHostMargin = 12, kHostTitle = 18;  // of a frame
constexpr double kKerb = 26;                         // from what stands on the street to the hosts

struct Grid {
  bool upright = false;  // the street runs from top to bottom
  std::size_t columns = 1, rows = 1;
  QSizeF cell, size;
};

class Layout {
 public:
  Layout(ClusterMap& map, const std::vector<std::string>& hosts, double aspect)
      : map_(map), hosts_(hosts), aspect_(aspect) {}

  void place() {
    if (hosts_.empty()) {
      place_circle(map_, outside(), 0);
    } else {
      place_hosts(best_grid());
    }
    for (const MapNode& node : map_.nodes) map_.bounds |= node.box;
    for (const MapFrame& frame : map_.frames) map_.bounds |= frame.box;
    map_.bounds.adjust(-kNodesApart, -kNodesApart, kNodesApart, kNodesApart);
  }

 private:
  MapNodes outside() const {
    MapNodes nodes;
    for (std::size_t i = 0; i < map_.nodes.size(); ++i) {
      const MapNode& node = map_.nodes[i];
      if (!node.host && node.kind != MapNodeKind::host) nodes.push_back(i);
    }
    return nodes;
  }

  QSizeF cell_of(bool upright) {
    if (map_.folded) return {kNodeWide, kNodeHigh * 1.2};
    QSizeF most;
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      most = most.expandedTo(place_host(map_, host, side_of(upright, false)).size());
    }
    return {most.width() + 2 * kHostMargin, most.height() + 2 * kHostMargin + kHostTitle};
  }

  static double street_width(bool upright) { return (upright ? kNodeWide : kNodeHigh) + 2 * kKerb; }

  // Full grids before others, and the larger picture before the smaller.
  double worth(const Grid& grid) const {
    const double scale = std::min(aspect_ / grid.size.width(), 1 / grid.size.height());
    const double full =
        static_cast<double>(hosts_.size()) / static_cast<double>(grid.rows * grid.columns);
    return scale * full;
  }

  Grid best_grid() {
    Grid best;
    const bool street = !outside().empty();
    for (const bool upright : {false, true}) {
      if (upright && !street) break;
      const QSizeF cell = cell_of(upright);
      for (std::size_t columns = 1; columns <= hosts_.size(); ++columns) {
        Grid grid{upright, columns, (hosts_.size() + columns - 1) / columns, cell, {}};
        const double wide =
            static_cast<double>(columns) * (cell.width() + kNodesApart) - kNodesApart;
        const double high =
            static_cast<double>(grid.rows) * (cell.height() + kNodesApart) - kNodesApart;
        const double between = street ? street_width(upright) : 0;
        grid.size = {wide + (upright ? between : 0), high + (upright ? 0 : between)};
        if (best.cell.isEmpty() || worth(grid) > worth(best)) best = grid;
      }
    }
    return best;
  }

  // Hosts on both sides of the street, the nearer half first.
  void place_hosts(const Grid& grid) {
    const MapNodes between = outside();
    const std::size_t lines = grid.upright ? grid.columns : grid.rows, before = (lines + 1) / 2;
    const double street = between.empty() ? 0 : street_width(grid.upright);
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      const std::size_t row = host / grid.columns, column = host % grid.columns;
      const bool over = (grid.upright ? column : row) >= before;
      if (!map_.folded) place_host(map_, host, side_of(grid.upright, over));
      QPointF corner(static_cast<double>(column) * (grid.cell.width() + kNodesApart),
                     static_cast<double>(row) * (grid.cell.height() + kNodesApart));
      if (over) corner += grid.upright ? QPointF(street, 0) : QPointF(0, street);
      place_block(host, QRectF(corner, grid.cell), grid.upright && over);
    }
    place_street(between, grid, before, street);
  }

  static StreetSide side_of(bool upright, bool over) {
    if (upright) return over ? StreetSide::left : StreetSide::right;
    return over ? StreetSide::above : StreetSide::below;
  }

  void place_street(const MapNodes& nodes, const Grid& grid, std::size_t before, double street) {
    const double cell = grid.upright ? grid.cell.width() : grid.cell.height();
    const double middle =
        static_cast<double>(before) * (cell + kNodesApart) - kNodesApart +
        (before < (grid.upright ? grid.columns : grid.rows) ? (street + kNodesApart) / 2
                                                            : street / 2);
    const double length = grid.upright ? grid.size.height() : grid.size.width();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const double at = length * static_cast<double>(i + 1) / static_cast<double>(nodes.size() + 1);
      map_.nodes[nodes[i]].box = node_box(grid.upright ? QPointF(middle, at) : QPointF(at, middle));
    }
  }

  void place_block(std::size_t host, const QRectF& block, bool name_right) {
    if (map_.folded) {
      map_.nodes[host].box = block;
      return;
    }
    map_.frames.push_back({hosts_[host], block, name_right});
    const MapNodes held = nodes_of_host(map_, host);
    const QPointF middle = block.center() + QPointF(0, kHostTitle / 2);
    const QPointF by = middle - box_around(map_, held).center();
    for (const std::size_t node : held) map_.nodes[node].box.translate(by);
  }

  ClusterMap& map_;
  const std::vector<std::string>& hosts_;
  double aspect_;
};

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

// Vertices as sets that grow together.
class Joined {
 public:
  explicit Joined(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  std::uint32_t find(std::uint32_t vertex) {
    while (parent_[vertex] != vertex) vertex = parent_[vertex] = parent_[parent_[vertex]];
    return vertex;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

void join_directions(const Cluster& cluster, Joined& joined) {
  std::map<std::string, std::uint32_t> known;
  for (std::size_t i = 0; i < cluster.switches().size(); ++i) {
    const auto vertex = static_cast<std::uint32_t>(cluster.device_count() + i);
    const auto [at, fresh] = known.emplace(both_ways(cluster.switches()[i]), vertex);
    if (!fresh) joined.join(at->second, vertex);
  }
}

// Two devices are never one, however fast they are joined.
void number_parts(const Cluster& cluster, ClusterParts& result) {
  const std::size_t devices = cluster.device_count();
  const std::size_t vertices = devices + cluster.switches().size();
  Joined joined(vertices);
  for (const Link& link : cluster.links()) {
    if (link.bandwidth < kNoLimit || link.from < devices || link.to < devices) continue;
    joined.join(link.from, link.to);
  }
  join_directions(cluster, joined);
  result.part_of.resize(vertices);
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    const std::uint32_t first = joined.find(vertex);
    if (first == vertex) {
      result.part_of[vertex] = static_cast<std::uint32_t>(result.parts.size());
      result.parts.emplace_back();
    }
    result.part_of[vertex] = result.part_of[first];
    result.parts[result.part_of[vertex]].push_back(vertex);
  }
}

void place_devices(const Cluster& cluster, ClusterParts& result) {
  result.host.resize(result.parts.size());
  for (std::size_t i = 0; i < cluster.device_count(); ++i) {
    const std::string& host = cluster[DeviceId(i)].host;
    if (host.empty()) continue;
    auto at = std::find(result.hosts.begin(), result.hosts.end(), host);
    if (at == result.hosts.end()) at = result.hosts.insert(at, host);
    result.host[result.part_of[i]] = static_cast<std::size_t>(at - result.hosts.begin());
  }
}

// A switch between several hosts stays outside, and so does what hangs on it alone.
void place_switches(const Cluster& cluster, ClusterParts& result) {
  std::vector<bool> settled(result.parts.size());
  for (std::size_t part = 0; part < settled.size(); ++part) {
    settled[part] = result.is_device(part, cluster);
  }
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<std::vector<std::size_t>> seen(result.parts.size());
    for (const Link& link : cluster.links()) {
      const std::uint32_t a = result.part_of[link.from], b = result.part_of[link.to];
      if (!settled[a] && settled[b] && result.host[b]) seen[a].push_back(*result.host[b]);
      if (!settled[b] && settled[a] && result.host[a]) seen[b].push_back(*result.host[a]);
    }
    for (std::size_t part = 0; part < seen.size(); ++part) {
      if (settled[part] || seen[part].empty()) continue;
      const auto& hosts = seen[part];
      const bool one = std::all_of(hosts.begin(), hosts.end(),
                                   [&](std::size_t host) { return host == hosts.front(); });
      if (one) result.host[part] = hosts.front();
      settled[part] = changed = true;
    }
  }
}

}  // namespace

void lay_out(ClusterMap& map, const std::vector<std::string>& hosts, double aspect) {
  Layout(map, hosts, aspect).place();
}

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

std::string both_ways(const std::string& name) {
  for (const std::string_view way : {"-in", "-out"}) {
    if (name.size() > way.size() && name.ends_with(way))
      return name.substr(0, name.size() - way.size());
  }
  return name;
}

ClusterParts parts_of(const Cluster& cluster) {
  ClusterParts result;
  number_parts(cluster, result);
  place_devices(cluster, result);
  place_switches(cluster, result);
  return result;
}

}  // namespace strata::gui
