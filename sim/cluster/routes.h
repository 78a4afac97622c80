#pragma once

// The routes between devices. Those from one device are found together, when the first of them is
// asked for, by a search in layers (Dijkstra's over (links, latency, names), which needs no queue
// because each link counts one). Memory per device asked for: 4 bytes for each other device and 4
// for each link of each route. Thread-safe.

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"

namespace strata {

class RouteTable {
 public:
  /// `link_by_name`: the links' indices in the order of their names. `source`: what errors about
  /// routes name, a file or "cluster NAME".
  RouteTable(std::span<const Device> devices, std::size_t vertex_count, std::span<const Link> links,
             std::span<const std::uint32_t> link_by_name, std::span<const FixedRoute> fixed,
             std::string source);

  /// Empty where there is no way, and for from == to.
  std::span<const LinkId> route(DeviceId from, DeviceId to) const;
  /// Whether names decide which of equally short ways one from the device is, but for fixed routes.
  bool names_decide(DeviceId from) const { return found(from).tied; }
  const std::string& source() const { return source_; }

 private:
  /// A link as the search sees it; of each vertex, in the order of the links' names.
  struct Edge {
    std::uint32_t to = 0;
    std::uint32_t link = 0;
    std::int64_t picoseconds = 0;  ///< latencies add up exactly, so that ties are ties
  };
  struct Source {
    std::once_flag once;
    std::vector<std::uint32_t> ends;  ///< to each device: routes[ends[i - 1] ... ends[i])
    std::vector<LinkId> routes;
    bool tied = false;  ///< one of them is as short as another way
  };
  struct Search;

  /// What a search that began at `from` may go on to from here: nothing where no one forwards.
  std::span<const Edge> edges_on(std::uint32_t from, std::uint32_t vertex) const;
  std::span<const Edge> edges_from(std::uint32_t vertex) const;
  const Source& found(DeviceId from) const;
  void find_routes(std::uint32_t from, Source& source) const;
  void append_route(const Search& search, std::uint32_t from, std::uint32_t to,
                    std::vector<LinkId>& routes) const;
  const FixedRoute* fixed_route(DeviceId from, DeviceId to) const;

  std::vector<std::uint32_t> edge_begin_;  // of each vertex, and one more
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> link_from_;
  std::vector<FixedRoute> fixed_;
  std::vector<bool> forwards_;  // of each device
  std::string source_;
  std::size_t device_count_;
  mutable std::vector<Source> sources_;  // each written once, under its flag
};

}  // namespace strata
