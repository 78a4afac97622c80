#pragma once

// How what a host holds stands beside each other: devices that are joined with each other in a
// ring, so that no cable lies upon another, else in lines; NICs and switches that lead out on the
// side of the street, others across from it. Pure; in points, y downwards.

#include <QPointF>
#include <QRectF>
#include <cstdint>
#include <vector>

#include "gui/models/cluster/cluster_map.h"

namespace strata::gui {

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

}  // namespace strata::gui
