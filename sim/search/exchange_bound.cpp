#include "sim/search/exchange_bound.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>

#include "sim/engine/tick.h"

namespace strata {
namespace {

constexpr std::size_t kMostBusiest = 8;
/// Of the most that a link is loaded.
constexpr double kAsBusy = 0.99;

// Routes between all devices, and what leads into each link.
class Routes {
 public:
  explicit Routes(const Cluster& cluster) : cluster_(cluster), before_(cluster.links().size()) {
    const std::size_t n = cluster.device_count();
    for (std::size_t from = 0; from < n; ++from) {
      for (std::size_t to = 0; to < n; ++to) {
        LinkId last;
        for (LinkId link : route(from, to)) {
          before_[link()].insert(last);
          last = link;
        }
      }
    }
  }

  std::span<const LinkId> route(std::size_t from, std::size_t to) const {
    if (from == to) return {};
    return cluster_.route(DeviceId(from), DeviceId(to));
  }

  // Whether a flow to the sibling has carried over the link whatever one to the device has, or all.
  bool keeps_up(LinkId link, std::size_t from, std::size_t device, std::size_t sibling) const {
    const std::span<const LinkId> a = route(from, device), b = route(from, sibling);
    if (from == sibling || latency(from, device) != latency(from, sibling)) return false;
    const auto fork = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    if (std::find(a.begin(), fork.first, link) == fork.first) return false;
    for (auto beyond = fork.second; beyond != b.end(); ++beyond) {
      if (!only_from(*(beyond - 1), *beyond)) return false;
    }
    return true;
  }

 private:
  Tick latency(std::size_t from, std::size_t to) const {
    return to_ticks(cluster_.latency(DeviceId(from), DeviceId(to)));
  }
  bool only_from(LinkId earlier, LinkId later) const {
    return before_[later()] == std::set<LinkId>{earlier} &&
           cluster_[later].bandwidth >= cluster_[earlier].bandwidth;
  }

  const Cluster& cluster_;
  std::vector<std::set<LinkId>> before_;  // by link; invalid: a device
};

}  // namespace

ExchangeBound::ExchangeBound(const Cluster& cluster, bool starts_together)
    : size_(cluster.device_count()) {
  assert(size_ <= kMostDevices);
  for (std::size_t from = 0; from < size_; ++from) {
    for (std::size_t to = 0; to < size_; ++to) {
      if (from == to) continue;
      latency_[from][to] = cluster.latency(DeviceId(from), DeviceId(to)).value;
      for (LinkId link : cluster.route(DeviceId(from), DeviceId(to))) {
        slowest_[from][to] = std::max(slowest_[from][to], 1 / cluster[link].bandwidth.value);
      }
    }
  }
  find_entries(cluster, starts_together);
  find_busiest(cluster);
}

void ExchangeBound::find_entries(const Cluster& cluster, bool starts_together) {
  const Routes routes(cluster);
  entries_.resize(size_);
  for (std::size_t to = 0; to < size_; ++to) {
    std::map<LinkId, Entry> by_link;
    for (std::size_t from = 0; from < size_; ++from) {
      for (LinkId link : routes.route(from, to)) {
        Entry& entry = by_link.try_emplace(link).first->second;
        const double latency = latency_[from][to];
        entry.latency = entry.senders.empty() ? latency : std::min(entry.latency, latency);
        entry.senders.push_back(static_cast<std::uint8_t>(from));
      }
    }
    for (auto& [link, entry] : by_link) {
      entry.seconds_per_byte = 1 / cluster[link].bandwidth.value;
      for (std::size_t other = 0; other < size_ && starts_together; ++other) {
        const auto keeps_up = [&, at = link](std::uint8_t from) {
          return routes.keeps_up(at, from, to, other);
        };
        const bool sibling = std::all_of(entry.senders.begin(), entry.senders.end(), keeps_up);
        if (other != to && sibling) entry.siblings.push_back(static_cast<std::uint8_t>(other));
      }
      // One sender alone is looked at by itself.
      if (entry.senders.size() + entry.siblings.size() > 1) entries_[to].push_back(entry);
    }
  }
}

void ExchangeBound::find_busiest(const Cluster& cluster) {
  std::vector<double> loads(cluster.links().size());
  std::vector<std::size_t> pairs(loads.size());
  for (std::size_t from = 0; from < size_; ++from) {
    for (std::size_t to = 0; to < size_; ++to) {
      if (from == to) continue;
      for (LinkId link : cluster.route(DeviceId(from), DeviceId(to))) {
        loads[link()] += 1 / cluster[link].bandwidth.value;
        ++pairs[link()];
      }
    }
  }
  const double most = loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (pairs[i] > 1 && loads[i] >= kAsBusy * most) busiest_.push_back(LinkId(i));
  }
  if (busiest_.size() > kMostBusiest) busiest_.clear();
  crossings_.resize(size_ * size_);
  for (std::size_t k = 0; k < busiest_.size(); ++k) {
    busiest_seconds_.push_back(1 / cluster[busiest_[k]].bandwidth.value);
    for (std::size_t pair = 0; pair < crossings_.size(); ++pair) {
      const std::size_t from = pair / size_, to = pair % size_;
      if (from == to) continue;
      const std::span<const LinkId> route = cluster.route(DeviceId(from), DeviceId(to));
      if (std::find(route.begin(), route.end(), busiest_[k]) == route.end()) continue;
      crossings_[pair].push_back(static_cast<std::uint8_t>(k));
    }
  }
}

ExchangeBound::Times ExchangeBound::arrivals(const Traffic& traffic) const {
  Times times{};
  for (std::size_t to = 0; to < size_; ++to) {
    for (std::size_t from = 0; from < size_; ++from) {
      const double bytes = traffic[from][to];
      if (from != to && bytes > 0) times[to] = std::max(times[to], arrival(from, to, bytes));
    }
    if (times[to] == 0) continue;
    for (const Entry& entry : entries_[to]) {
      double crossed = 0;
      for (const std::uint8_t from : entry.senders) {
        const double own = traffic[from][to];
        crossed += own;
        for (const std::uint8_t sibling : entry.siblings) {
          crossed += std::min(own, traffic[from][sibling]);
        }
      }
      if (crossed == 0) continue;
      times[to] = std::max(times[to], entry.latency + crossed * entry.seconds_per_byte);
    }
  }
  return times;
}

double ExchangeBound::last_arrival(const Traffic& traffic, const DeviceSet& receivers) const {
  std::array<double, kMostBusiest> seconds{};
  for (std::size_t to = 0; to < size_; ++to) {
    if (!receivers[to]) continue;
    for (std::size_t from = 0; from < size_; ++from) {
      if (from != to) add_load(from, to, traffic[from][to], seconds);
    }
  }
  return *std::max_element(seconds.begin(), seconds.end());
}

void ExchangeBound::add_load(std::size_t from, std::size_t to, double bytes,
                             std::span<double> seconds) const {
  for (const std::uint8_t link : crossings_[from * size_ + to]) {
    seconds[link] += bytes * busiest_seconds_[link];
  }
}

void ExchangeBound::add_loads(const Traffic& traffic, std::span<double> seconds) const {
  for (std::size_t from = 0; from < size_; ++from) {
    for (std::size_t to = 0; to < size_; ++to) {
      if (from != to && traffic[from][to] > 0) add_load(from, to, traffic[from][to], seconds);
    }
  }
}

}  // namespace strata
