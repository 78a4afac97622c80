#include "sim/plan/mesh_rings.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace strata {
namespace {

// Larger groups are not searched: their domains have switches.
constexpr std::size_t kMostDevices = 16;
// Steps from device to device that one search takes.
constexpr std::uint32_t kMostSteps = 20'000;

// By device and device in their order: what is left of the link between them.
class Capacities {
 public:
  Capacities(const Cluster& cluster, const DomainRoutes& routes, std::span<const DeviceId> devices)
      : size_(devices.size()), left_(devices.size() * devices.size()) {
    for (std::size_t a = 0; a < size_; ++a) {
      for (std::size_t b = 0; b < size_; ++b) {
        if (a != b) at(a, b) = route_bandwidth(cluster, routes, {a, b}, devices[a], devices[b]);
      }
    }
    // A switch that joins two devices alone is a wire.
    for (const auto& [ends, switches] : passed_) {
      for (const std::uint32_t between : switches) {
        if (joined_[between].size() > 1) at(ends.first, ends.second) = 0;
      }
    }
  }

  std::size_t size() const { return size_; }
  double& at(std::size_t a, std::size_t b) { return left_[a * size_ + b]; }
  double at(std::size_t a, std::size_t b) const { return left_[a * size_ + b]; }

  // What the device that has the least can still send, or get.
  double least_device_bandwidth() const {
    double most = -1;
    for (std::size_t a = 0; a < size_; ++a) {
      double sends = 0, gets = 0;
      for (std::size_t b = 0; b < size_; ++b) {
        sends += at(a, b);
        gets += at(b, a);
      }
      const double least = std::min(sends, gets);
      most = most < 0 ? least : std::min(most, least);
    }
    return most;
  }

  // Whether each device sends and gets so much over some link.
  bool all_have(double level) const {
    for (std::size_t a = 0; a < size_; ++a) {
      bool sends = false, gets = false;
      for (std::size_t b = 0; b < size_; ++b) {
        sends = sends || at(a, b) >= level;
        gets = gets || at(b, a) >= level;
      }
      if (!sends || !gets) return false;
    }
    return true;
  }

  // From the most to the least, each once.
  std::vector<double> levels() const {
    std::vector<double> levels;
    std::ranges::copy_if(left_, std::back_inserter(levels), [](double x) { return x > 0; });
    std::ranges::sort(levels, std::greater());
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    return levels;
  }

 private:
  using Ends = std::pair<std::size_t, std::size_t>;

  // The least bandwidth of the route; 0 where it leads over another device.
  double route_bandwidth(const Cluster& cluster, const DomainRoutes& routes, Ends ends,
                         DeviceId from, DeviceId to) {
    double least = kNoLimit.value;
    bool over_device = false;
    std::vector<std::uint32_t> switches;
    routes.for_each_link(from, to, [&](LinkId id) {
      const Link& link = cluster[id];
      least = std::min(least, link.bandwidth.value);
      if (link.to == to()) return;
      over_device = over_device || link.to < cluster.device_count();
      switches.push_back(link.to);
    });
    if (over_device) return 0;
    for (const std::uint32_t between : switches) joined_[between].insert(std::minmax(from, to));
    if (!switches.empty()) passed_.emplace_back(ends, std::move(switches));
    return least;
  }

  std::size_t size_;
  std::vector<double> left_;
  std::vector<std::pair<Ends, std::vector<std::uint32_t>>> passed_;
  std::map<std::uint32_t, std::set<std::pair<DeviceId, DeviceId>>> joined_;  // by switch
};

using Cycle = std::vector<std::size_t>;
struct Ring {
  Cycle cycle;
  double bandwidth = 0;
};

double bandwidth_of(const std::vector<Ring>& rings) {
  double sum = 0;
  for (const Ring& ring : rings) sum += ring.bandwidth;
  return sum;
}

// The fastest ring first, and of those that are as fast the one after which the others are the
// fastest.
class RingSearch {
 public:
  explicit RingSearch(const Capacities& capacities) : capacities_(capacities) {}

  std::vector<Ring> run() {
    upper_bound_ = capacities_.least_device_bandwidth() * (1 - kRounding);
    extend();
    return best_;
  }

 private:
  bool is_done() const { return steps_ >= limit_ || bandwidth_of(best_) >= upper_bound_; }

  void extend() {
    const double found = bandwidth_of(rings_);
    if (found > bandwidth_of(best_)) best_ = rings_;
    if (found + capacities_.least_device_bandwidth() <= bandwidth_of(best_) * (1 + kRounding))
      return;
    // Each level has its share of the steps, lest one at which no ring exists uses them up.
    const std::uint32_t limit = limit_;
    const std::vector<double> levels = capacities_.levels();
    for (std::size_t i = 0; i < levels.size() && steps_ < limit; ++i) {
      if (!capacities_.all_have(levels[i])) continue;
      limit_ = steps_ + (limit - steps_) / static_cast<std::uint32_t>(levels.size() - i);
      Cycle cycle = {0};
      std::vector<bool> visited(capacities_.size());
      visited[0] = true;
      if (visit(levels[i], cycle, visited)) break;
    }
    limit_ = limit;
  }

  // Whether there was a ring over links that have so much left.
  bool visit(double level, Cycle& cycle, std::vector<bool>& visited) {
    if (is_done()) return false;
    ++steps_;
    if (cycle.size() == capacities_.size()) {
      if (capacities_.at(cycle.back(), 0) < level) return false;
      take(level, cycle);
      return true;
    }
    bool found = false;
    for (std::size_t next = 1; next < capacities_.size(); ++next) {
      if (visited[next] || capacities_.at(cycle.back(), next) < level) continue;
      visited[next] = true;
      cycle.push_back(next);
      found = visit(level, cycle, visited) || found;
      cycle.pop_back();
      visited[next] = false;
    }
    return found;
  }

  void take(double level, const Cycle& cycle) {
    change(cycle, -level);
    rings_.push_back({cycle, level});
    extend();
    rings_.pop_back();
    change(cycle, level);
  }

  void change(const Cycle& cycle, double by) {
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      double& left = capacities_.at(cycle[i], cycle[(i + 1) % cycle.size()]);
      left += by;
      if (left < kRounding * std::abs(by)) left = 0;
    }
  }

  static constexpr double kRounding = 1e-9;
  Capacities capacities_;
  std::vector<Ring> rings_, best_;
  double upper_bound_ = 0;  ///< no set of rings is faster
  std::uint32_t steps_ = 0, limit_ = kMostSteps;
};

}  // namespace

std::vector<MeshRing> mesh_rings(const Cluster& cluster, const DomainRoutes& routes,
                                 std::span<const DeviceId> devices) {
  std::vector<MeshRing> rings;
  if (devices.size() < 3 || devices.size() > kMostDevices) return rings;
  const std::vector<Ring> found = RingSearch({cluster, routes, devices}).run();
  for (const Ring& ring : found) {
    rings.push_back({{}, ring.bandwidth / bandwidth_of(found)});
    for (const std::size_t place : ring.cycle) rings.back().order.push_back(devices[place]);
  }
  return rings;
}

}  // namespace strata
