#pragma once

// Where everything of a cluster's map stands. Hosts stand in a grid, and what joins them on a
// street through its middle, level or upright: the grid is the one that shows the most in a window
// of the given shape. Pure; in points, y downwards.

#include <QPointF>
#include <QRectF>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gui/models/cluster/cluster_map.h"
#include "sim/cluster/cluster.h"

namespace strata::gui {

/// Gives the nodes their boxes, the hosts their frames, and the map its bounds. `hosts`: by name,
/// as the nodes number them. `aspect`: the window's width by its height.
void lay_out(ClusterMap& map, const std::vector<std::string>& hosts, double aspect);

// How what a host holds stands beside each other: devices that are joined with each other in a
// ring, so that no cable lies upon another, else in lines; NICs and switches that lead out on the
// side of the street, others across from it. Pure; in points, y downwards.

inline constexpr double kNodeWide = 76, kNodeHigh = 30, kNodesApart = 16;

using MapNodes = std::vector<std::size_t>;

/// Of a host: where the street runs that joins it with others.
enum class StreetSide : std::uint8_t { above, below, left, right };

QRectF node_box(const QPointF& centre);
QRectF box_around(const ClusterMap& map, const MapNodes& nodes);
MapNodes nodes_of_host(const ClusterMap& map, std::size_t host);

/// Around the origin; the first one stands `turn` times the way to the next after the top.
void place_circle(ClusterMap& map, const MapNodes& nodes, double turn);
/// Around the origin; the box that they take.
QRectF place_host(ClusterMap& map, std::size_t host, StreetSide street);

// What of a cluster is drawn as one: vertices joined without a limit, and the host that each
// belongs to. Pure.

struct ClusterParts {
  std::vector<std::uint32_t> part_of;             ///< by vertex
  std::vector<std::vector<std::uint32_t>> parts;  ///< vertices, ascending; by least vertex
  std::vector<std::string> hosts;                 ///< in order of appearance
  std::vector<std::optional<std::size_t>> host;   ///< by part

  bool is_device(std::size_t part, const Cluster& cluster) const {
    return parts[part].front() < cluster.device_count();
  }
};

/// The name of a thing whose two directions are two switches, without the direction: "host0/nic" of
/// "host0/nic-in" and "host0/nic-out".
std::string both_ways(const std::string& name);

ClusterParts parts_of(const Cluster& cluster);

}  // namespace strata::gui
