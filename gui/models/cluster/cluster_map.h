#pragma once

// A cluster as a drawing: hosts as frames, devices and switches in them, what lies between hosts
// outside. Vertices that are joined by links without a limit (the ports of a switch), or are its
// two directions, are one node; the two directions between two nodes are one edge. A map of many
// devices is folded: each host is one node. Immutable once made; pure functions. In points, y
// downwards.

#include <QPointF>
#include <QRectF>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"

namespace strata::gui {

enum class MapNodeKind : std::uint8_t { device, network, host };

struct MapNode {
  MapNodeKind kind = MapNodeKind::device;
  std::string name;
  QRectF box;
  std::vector<DeviceId> devices;    ///< one, or all of a host; none of a switch
  std::vector<LinkId> inside;       ///< of a host: links between what it holds
  std::optional<std::size_t> host;  ///< the frame that it stands in

  /// Without what its frame says already: "gpu0" of "host0/gpu0".
  std::string short_name() const;
};

struct MapEdge {
  std::size_t from = 0, to = 0;     ///< nodes, from < to
  std::vector<LinkId> there, back;  ///< links with a limit; several where hosts are folded
};

struct MapFrame {
  std::string name;
  QRectF box;
  bool name_right = false;  ///< the links to the other hosts leave on the left
};

struct ClusterMap {
  std::vector<MapNode> nodes;
  std::vector<MapEdge> edges;
  std::vector<MapFrame> frames;
  QRectF bounds;
  bool folded = false;

  std::optional<std::size_t> node_at(const QPointF& at) const;
  std::optional<std::size_t> node_of(DeviceId device) const;
  /// The edge whose line passes within `near` of a point.
  std::optional<std::size_t> edge_at(const QPointF& at, double near) const;
};

/// More devices than this are folded into their hosts.
inline constexpr std::size_t kMostDrawn = 64;

/// `aspect`: the window's width by its height. Hosts by the devices' own word; a switch belongs to
/// the host that all its neighbours belong to. Devices without a host stand in a circle.
ClusterMap map_of(const Cluster& cluster, bool folded, double aspect = 1.6);

}  // namespace strata::gui
