#include "sim/cluster/routes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace strata {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

/// The best way found to each vertex: its last link, and where its names stand among the ways of
/// its layer (ways of one length are compared name by name, so by their prefix first).
struct RouteTable::Search {
  struct Way {
    std::uint32_t hops = kNone;
    std::uint32_t link = kNone;
    std::uint32_t edge = 0;  ///< orders the links by name within their vertex
    std::uint32_t prefix_rank = 0;
    std::int64_t picoseconds = 0;
    bool tied = false;  ///< it or its beginning is as short as another way
  };
  std::vector<Way> ways;
};

RouteTable::RouteTable(std::span<const Device> devices, std::size_t vertex_count,
                       std::span<const Link> links, std::span<const std::uint32_t> link_by_name,
                       std::span<const FixedRoute> fixed, std::string source)
    : edge_begin_(vertex_count + 1, 0),
      edges_(links.size()),
      fixed_(fixed.begin(), fixed.end()),
      source_(std::move(source)),
      device_count_(devices.size()),
      sources_(devices.size()) {
  for (const Device& device : devices) forwards_.push_back(device.forwards);
  for (const Link& link : links) {
    ++edge_begin_[link.from + 1];
    link_from_.push_back(link.from);
  }
  for (std::size_t v = 0; v < vertex_count; ++v) edge_begin_[v + 1] += edge_begin_[v];
  std::vector<std::uint32_t> next(edge_begin_.begin(), edge_begin_.end() - 1);
  for (const std::uint32_t id : link_by_name) {
    const Link& link = links[id];
    edges_[next[link.from]++] = {link.to, id, std::llround(link.latency.value * 1e12)};
  }
}

std::span<const RouteTable::Edge> RouteTable::edges_from(std::uint32_t vertex) const {
  return std::span(edges_).subspan(edge_begin_[vertex],
                                   edge_begin_[vertex + 1] - edge_begin_[vertex]);
}

std::span<const RouteTable::Edge> RouteTable::edges_on(std::uint32_t from,
                                                       std::uint32_t vertex) const {
  const bool passes = vertex == from || vertex >= device_count_ || forwards_[vertex];
  return passes ? edges_from(vertex) : std::span<const Edge>();
}

const FixedRoute* RouteTable::fixed_route(DeviceId from, DeviceId to) const {
  const auto place = std::lower_bound(
      fixed_.begin(), fixed_.end(), std::tuple(from, to),
      [](const FixedRoute& a, const auto& key) { return std::tuple(a.from, a.to) < key; });
  const bool found = place != fixed_.end() && place->from == from && place->to == to;
  return found ? &*place : nullptr;
}

std::span<const LinkId> RouteTable::route(DeviceId from, DeviceId to) const {
  if (from == to) return {};
  if (!fixed_.empty()) {
    if (const FixedRoute* fixed = fixed_route(from, to)) return fixed->links;
  }
  const Source& source = found(from);
  const std::uint32_t begin = to() == 0 ? 0 : source.ends[to() - 1];
  return std::span(source.routes).subspan(begin, source.ends[to()] - begin);
}

const RouteTable::Source& RouteTable::found(DeviceId from) const {
  Source& source = sources_[from()];
  std::call_once(source.once, [&] { find_routes(from.value, source); });
  return source;
}

void RouteTable::find_routes(std::uint32_t from, Source& source) const {
  Search search;
  search.ways.resize(edge_begin_.size() - 1);
  search.ways[from].hops = 0;
  std::vector<std::uint32_t> layer = {from}, next;
  for (std::uint32_t hops = 1; !layer.empty(); ++hops) {
    bool in_order = true;  // of names: as found, unless less latency changed a way
    next.clear();
    for (std::uint32_t rank = 0; rank < layer.size(); ++rank) {
      const Search::Way at = search.ways[layer[rank]];
      std::uint32_t e = edge_begin_[layer[rank]];
      for (const Edge& edge : edges_on(from, layer[rank])) {
        Search::Way& way = search.ways[edge.to];
        const std::int64_t picoseconds = at.picoseconds + edge.picoseconds;
        const Search::Way found{hops, edge.link, e++, rank, picoseconds, at.tied};
        if (way.hops == kNone) {
          next.push_back(edge.to);
          way = found;
        } else if (way.hops == hops && picoseconds < way.picoseconds) {
          way = found;
          in_order = false;
        } else if (way.hops == hops && picoseconds == way.picoseconds) {
          way.tied = true;
        }
      }
    }
    if (!in_order) {
      std::sort(next.begin(), next.end(), [&](std::uint32_t a, std::uint32_t b) {
        const Search::Way &x = search.ways[a], &y = search.ways[b];
        return std::tuple(x.prefix_rank, x.edge) < std::tuple(y.prefix_rank, y.edge);
      });
    }
    layer.swap(next);
  }
  for (std::uint32_t to = 0; to < device_count_; ++to) {
    append_route(search, from, to, source.routes);
    source.tied |= search.ways[to].tied;
    source.ends.push_back(static_cast<std::uint32_t>(source.routes.size()));
  }
}

void RouteTable::append_route(const Search& search, std::uint32_t from, std::uint32_t to,
                              std::vector<LinkId>& routes) const {
  if (search.ways[to].hops == kNone) return;
  const std::size_t begin = routes.size();
  routes.resize(begin + search.ways[to].hops);
  for (std::uint32_t at = to; at != from; at = link_from_[search.ways[at].link]) {
    routes[begin + search.ways[at].hops - 1] = LinkId(search.ways[at].link);
  }
}

}  // namespace strata
