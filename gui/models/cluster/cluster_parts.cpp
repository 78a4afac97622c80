#include "gui/models/cluster/cluster_parts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

namespace strata::gui {
namespace {

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
