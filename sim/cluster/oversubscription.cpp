#include "sim/cluster/oversubscription.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace strata {
namespace {

constexpr std::uint32_t kNoDepth = std::numeric_limits<std::uint32_t>::max();
constexpr std::string_view kUpKind = "uplink", kCardKind = "inter";

/// By vertex: over how many links, whatever their direction, the nearest device is.
std::vector<std::uint32_t> depths(const Cluster& cluster) {
  std::vector<std::uint32_t> depth(cluster.device_count() + cluster.switches().size(), kNoDepth);
  std::fill_n(depth.begin(), cluster.device_count(), 0U);
  for (std::uint32_t next = 1; next < depth.size(); ++next) {
    bool found = false;
    for (const Link& link : cluster.links()) {
      for (const auto& [from, to] : {std::pair(link.from, link.to), {link.to, link.from}}) {
        if (depth[from] != next - 1 || depth[to] != kNoDepth) continue;
        depth[to] = next;
        found = true;
      }
    }
    if (!found) break;
  }
  return depth;
}

bool has_kind(const std::vector<Link>& links, std::string_view kind) {
  return std::any_of(links.begin(), links.end(), [&](const Link& l) { return l.kind == kind; });
}

/// The link's end that is nearer to devices, and the other one.
struct LinkEnds {
  std::uint32_t below, above;
  bool up;
};
LinkEnds ends_of(const Link& link, const std::vector<std::uint32_t>& depth) {
  const bool up = depth[link.from] < depth[link.to];
  return up ? LinkEnds{link.from, link.to, true} : LinkEnds{link.to, link.from, false};
}

// From the lowest switches upwards, since a link down to one is a link from below of none.
void set_uplinks(double ratio, const std::vector<std::uint32_t>& depth, std::vector<Link>& links) {
  std::vector<std::size_t> order(links.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return depth[ends_of(links[a], depth).below] < depth[ends_of(links[b], depth).below];
  });
  std::vector<double> arrives(depth.size()), uplinks(depth.size());
  for (const Link& link : links) {
    const LinkEnds ends = ends_of(link, depth);
    if (link.kind == kUpKind && ends.up) ++uplinks[ends.below];
  }
  for (const std::size_t at : order) {
    const LinkEnds ends = ends_of(links[at], depth);
    if (links[at].kind == kUpKind) {
      links[at].bandwidth = BytesPerSecond{arrives[ends.below] / ratio / uplinks[ends.below]};
    }
    if (ends.up) arrives[ends.above] += links[at].bandwidth.value;
  }
}

}  // namespace

void oversubscribe(const Cluster& cluster, double ratio, std::vector<Link>& links) {
  const std::vector<std::uint32_t> depth = depths(cluster);
  if (has_kind(links, kUpKind)) {
    return set_uplinks(ratio, depth, links);
  }
  std::uint32_t top = 0;
  for (const Link& link : links) {
    if (link.kind == kCardKind) top = std::max({top, depth[link.from], depth[link.to]});
  }
  for (Link& link : links) {
    const bool at_top = depth[link.from] == top || depth[link.to] == top;
    if (link.kind == kCardKind && at_top) link.bandwidth = link.bandwidth * (1 / ratio);
  }
}

}  // namespace strata
