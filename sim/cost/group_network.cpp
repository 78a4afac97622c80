#include "sim/cost/group_network.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>

#include "sim/base/cancel.h"

namespace strata {
namespace {

using Row = GroupNetwork::Row;
using Sum = GroupNetwork::Sum;
using Route = std::span<const LinkId>;

constexpr std::size_t kNoGroup = std::numeric_limits<std::size_t>::max();

// What one group's devices put on one link.
struct LinkUse {
  std::size_t group = kNoGroup;
  Sum rows;
};

bool contains(const Sum& sum, Row row) {
  return std::binary_search(sum.begin(), sum.end(), row);
}

// Sorts the routes of a cluster by the groups that they join.
class RouteSurvey {
 public:
  RouteSurvey(const Cluster& cluster, std::size_t size, const std::atomic<bool>* cancelled)
      : cluster_(cluster),
        cancelled_(cancelled),
        size_(size),
        devices_(cluster.device_count()),
        lanes_(size * size),
        uses_(cluster.links().size()) {}

  /// Whether groups of this size explain every route.
  bool run() {
    if (devices_ % size_ != 0) return false;
    return survey_within() && (devices_ == size_ || survey_between());
  }

  /// By sum of rows: the least bandwidth by group of the links that it loads. Nothing where the
  /// groups differ.
  std::optional<std::map<Sum, std::vector<double>>> bandwidths() const {
    std::map<Sum, std::vector<double>> least;
    for (std::size_t link = 0; link < uses_.size(); ++link) {
      const LinkUse& use = uses_[link];
      if (use.rows.empty()) continue;
      double& known = least.try_emplace(use.rows, groups(), 0).first->second[use.group];
      const double bandwidth = cluster_[LinkId(link)].bandwidth.value;
      known = known == 0 ? bandwidth : std::min(known, bandwidth);
    }
    for (const auto& [sum, by_group] : least) {
      if (std::count(by_group.begin(), by_group.end(), 0.0) > 0) return std::nullopt;
    }
    return least;
  }

  std::size_t groups() const { return devices_ / size_; }
  /// From number s to number t of a group.
  double latency_within(std::size_t s, std::size_t t) const { return latency_[s * size_ + t]; }
  double latency_between() const { return latency_between_; }

 private:
  bool same_group(std::size_t i, std::size_t j) const { return i / size_ == j / size_; }
  DeviceId foreign(std::size_t device) const { return DeviceId(same_group(device, 0) ? size_ : 0); }

  // The links that all routes from `i` to other groups begin with.
  Route way_out(std::size_t i) const {
    const DeviceId from(i);
    Route common = cluster_.route(from, foreign(i));
    for (std::size_t j = 0; j < devices_; ++j) {
      if (same_group(i, j)) continue;
      const Route route = cluster_.route(from, DeviceId(j));
      const auto end = std::mismatch(common.begin(), common.end(), route.begin(), route.end());
      common = common.first(static_cast<std::size_t>(end.first - common.begin()));
      if (common.empty()) return common;
    }
    return common;
  }

  bool survey_between() {
    std::vector<Route> out(devices_), in(devices_);
    for (std::size_t i = 0; i < devices_; ++i) {
      throw_if_cancelled(cancelled_);
      out[i] = way_out(i);
    }
    latency_between_ = cluster_.latency(DeviceId(0), foreign(0)).value;
    for (std::size_t j = 0; j < devices_; ++j) {
      throw_if_cancelled(cancelled_);
      const DeviceId from = foreign(j);
      const Route route = cluster_.route(from, DeviceId(j));
      in[j] = route.subspan(out[from()].size());
      for (std::size_t i = 0; i < devices_; ++i) {
        if (!same_group(i, j) && !explains(out[i], in[j], i, j)) return false;
      }
    }
    return load_all(out, lanes_) && load_all(in, lanes_ + size_);
  }

  bool explains(Route out, Route in, std::size_t i, std::size_t j) const {
    const Route route = cluster_.route(DeviceId(i), DeviceId(j));
    return route.size() == out.size() + in.size() &&
           std::equal(out.begin(), out.end(), route.begin()) &&
           std::equal(in.begin(), in.end(), route.end() - std::ssize(in)) &&
           cluster_.latency(DeviceId(i), DeviceId(j)).value == latency_between_;
  }

  bool survey_within() {
    latency_.assign(lanes_, 0);
    for (std::size_t i = 0; i < devices_; ++i) {
      const std::size_t first = i / size_ * size_, s = i - first;
      for (std::size_t t = 0; t < size_; ++t) {
        if (t == s) continue;
        const DeviceId from(i), to(first + t);
        const std::size_t row = s * size_ + t;
        const double latency = cluster_.latency(from, to).value;
        if (first == 0) latency_[row] = latency;
        if (latency != latency_[row]) return false;
        if (!load(cluster_.route(from, to), i / size_, static_cast<Row>(row))) return false;
      }
    }
    return true;
  }

  bool load_all(const std::vector<Route>& ways, std::size_t first_row) {
    for (std::size_t i = 0; i < devices_; ++i) {
      if (!load(ways[i], i / size_, static_cast<Row>(first_row + i % size_))) return false;
    }
    return true;
  }

  // A link that several groups load fits no formula of one. The rows of a group come in ascending
  // order, so that those of a link are sorted.
  bool load(Route route, std::size_t group, Row row) {
    for (LinkId link : route) {
      LinkUse& use = uses_[link()];
      if (use.group == kNoGroup) use.group = group;
      if (use.group != group) return false;
      if (use.rows.empty() || use.rows.back() != row) use.rows.push_back(row);
    }
    return true;
  }

  const Cluster& cluster_;
  const std::atomic<bool>* cancelled_;
  std::size_t size_, devices_, lanes_;
  std::vector<LinkUse> uses_;  // by link
  std::vector<double> latency_;
  double latency_between_ = 0;
};

// The rows that add up to all that leaves a group, or one of its devices, and to all that enters
// it.
struct Passing {
  Sum out, in;
};

Passing between_groups_of(Row m) {
  Passing rows{Sum(m), Sum(m)};
  std::iota(rows.out.begin(), rows.out.end(), m * m);
  std::iota(rows.in.begin(), rows.in.end(), m * m + m);
  return rows;
}

// Within the group of m.
Passing of_number(Row number, Row m) {
  Passing rows;
  for (Row other = 0; other < m; ++other) {
    if (other == number) continue;
    rows.out.push_back(number * m + other);
    rows.in.push_back(other * m + number);
  }
  return rows;
}

bool uniform(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [&](double v) { return v == values.front(); });
}

// Loads are never negative: a sum over a part of another's rows, on a link no slower, is no
// slower.
void drop_dominated(std::map<Sum, std::vector<double>>& bandwidths) {
  const auto all = bandwidths;
  std::erase_if(bandwidths, [&](const auto& small) {
    return std::any_of(all.begin(), all.end(), [&](const auto& large) {
      if (large.first.size() <= small.first.size()) return false;
      if (!contains(large.first, small.first.front())) return false;
      if (!std::includes(large.first.begin(), large.first.end(), small.first.begin(),
                         small.first.end())) {
        return false;
      }
      return std::equal(large.second.begin(), large.second.end(), small.second.begin(),
                        [](double slow, double fast) { return slow <= fast; });
    });
  });
}

// The devices of the first domain; all where a device names none.
std::size_t domain_size(const Cluster& cluster) {
  const auto devices = cluster.devices();
  const std::string& domain = devices.front().fast_domain();
  const auto other = std::find_if(devices.begin(), devices.end(), [&](const Device& device) {
    return device.fast_domain() != domain;
  });
  return static_cast<std::size_t>(other - devices.begin());
}

// Below a tree of switches, the domains that share the first one's lowest: those before the
// first that is farthest from it. The domain itself where all others are as far.
std::size_t near_size(const Cluster& cluster, std::size_t domain) {
  std::size_t farthest = 0, most = 0;
  for (std::size_t j = 1; j < cluster.device_count(); ++j) {
    const std::size_t links = cluster.route(DeviceId(0), DeviceId(j)).size();
    if (links > most) farthest = j, most = links;
  }
  return std::max(domain, farthest / domain * domain);
}

}  // namespace

GroupNetwork::GroupNetwork(const Cluster& cluster, const std::atomic<bool>* cancelled) {
  const std::size_t devices = cluster.device_count(), domain = domain_size(cluster);
  for (const std::size_t size :
       std::set{std::size_t{1}, domain, near_size(cluster, domain), devices}) {
    if (try_groups(cluster, size, cancelled)) return;
  }
}

std::vector<std::uint32_t> GroupNetwork::all_groups() const {
  std::vector<std::uint32_t> groups(groups_);
  std::iota(groups.begin(), groups.end(), 0u);
  return groups;
}

std::vector<std::uint32_t> GroupNetwork::sampled_groups() const {
  constexpr std::size_t kFew = 8;  // what one vector of the kernel holds
  if (groups_ <= kFew) return all_groups();
  std::set<std::uint32_t> groups = {0};
  std::size_t end = groups_;
  for (; end > 1 && groups.size() < kFew; end = (end + 1) / 2) {
    groups.insert(static_cast<std::uint32_t>(end - 1));
  }
  if (groups.size() < kFew) groups.insert(static_cast<std::uint32_t>(groups_ / 2));
  return {groups.begin(), groups.end()};
}

// The bandwidth of links that together carry all these rows; infinite where one loads no link. Any
// such links will do for a bound; slow ones that carry many rows make a good one.
double GroupNetwork::joint_bandwidth(const Links& links, Sum rows) {
  double sum = 0;
  while (!rows.empty()) {
    const std::pair<Sum, double>* best = nullptr;
    std::size_t most = 0;
    for (const auto& link : links) {
      const Sum& carried = link.first;
      const double bandwidth = link.second;
      if (!contains(carried, rows.front())) continue;
      const auto count = static_cast<std::size_t>(
          std::count_if(rows.begin(), rows.end(), [&](Row row) { return contains(carried, row); }));
      if (best == nullptr || bandwidth < best->second ||
          (bandwidth == best->second && count > most)) {
        best = &link, most = count;
      }
    }
    if (best == nullptr) return std::numeric_limits<double>::infinity();
    sum += best->second;
    std::erase_if(rows, [&](Row row) { return contains(best->first, row); });
  }
  return sum;
}

// `out_and_in`: the rows that add up to what some group (or device) of the bound sends and gets.
GroupNetwork GroupNetwork::bound(std::size_t groups, double latency,
                                 const std::vector<std::pair<Sum, Sum>>& out_and_in) const {
  Links back;
  for (const auto& [sum, bandwidth] : links_) back.emplace_back(reversed(sum), bandwidth);
  GroupNetwork result;
  result.groups_ = groups;
  const std::uint32_t leaves = result.index_of({{{1}}, {}});  // Out of a group of one
  const std::uint32_t enters = result.index_of({{{2}}, {}});  // In
  const auto direction = [&](const Links& links) {
    double out = 0, in = 0;
    for (const auto& [sent, got] : out_and_in) {
      out = std::max(out, joint_bandwidth(links, sent));
      in = std::max(in, joint_bandwidth(links, got));
    }
    return Direction{{{leaves, out}, {enters, in}}, {{leaves, latency}, {enters, latency}}};
  };
  result.forward_ = direction(links_);
  result.backward_ = direction(back);
  return result;
}

GroupNetwork GroupNetwork::between_groups() const {
  const auto [out, in] = between_groups_of(static_cast<Row>(size_));
  return bound(groups_, latency_between_, {{out, in}});
}

GroupNetwork GroupNetwork::between_devices() const {
  const auto m = static_cast<Row>(size_);
  std::vector<std::pair<Sum, Sum>> rows;
  for (Row number = 0; number < m; ++number) {
    auto [out, in] = of_number(number, m);
    if (groups_ > 1) {
      out.push_back(m * m + number);
      in.push_back(m * m + m + number);
    }
    rows.emplace_back(std::move(out), std::move(in));
  }
  return bound(groups_ * size_, least_latency_, rows);
}

GroupNetwork::Row GroupNetwork::reversed(Row row) const {
  const auto m = static_cast<Row>(size_);
  if (row < m * m) return row % m * m + row / m;
  return (row - m * m) / m % 2 == 0 ? row + m : row - m;
}

// All that number s sends within its group is one row, and so is all that number t gets.
GroupNetwork::Sum GroupNetwork::shortened(Sum sum) const {
  const auto m = static_cast<Row>(size_);
  for (Row number = 0; m > 2 && number < m; ++number) {
    const Row other_number = number == 0 ? 1 : 0;
    const bool sends = contains(sum, number * m + other_number);
    const bool gets = contains(sum, other_number * m + number);
    if (!sends && !gets) continue;
    const auto [sent, got] = of_number(number, m);
    const auto replace = [&](const Sum& part, Row row) {
      const auto there = [&](Row r) { return contains(sum, r); };
      if (!std::all_of(part.begin(), part.end(), there)) return;
      std::erase_if(sum, [&](Row r) { return contains(part, r); });
      sum.push_back(row);
      std::sort(sum.begin(), sum.end());
    };
    replace(sent, m * m + 2 * m + number);
    replace(got, m * m + 3 * m + number);
  }
  return sum;
}

GroupNetwork::Sum GroupNetwork::reversed(const Sum& sum) const {
  Sum result;
  for (Row row : sum) result.push_back(reversed(row));
  std::sort(result.begin(), result.end());
  return result;
}

std::uint32_t GroupNetwork::index_of(Maximum maximum) {
  std::sort(maximum.sums.begin(), maximum.sums.end());
  const auto known = std::find(maxima_.begin(), maxima_.end(), maximum);
  const auto index = static_cast<std::uint32_t>(known - maxima_.begin());
  if (known == maxima_.end()) maxima_.push_back(std::move(maximum));
  return index;
}

bool GroupNetwork::try_groups(const Cluster& cluster, std::size_t size,
                              const std::atomic<bool>* cancelled) {
  RouteSurvey survey(cluster, size, cancelled);
  if (!survey.run()) return false;
  auto bandwidths = survey.bandwidths();
  if (!bandwidths) return false;
  drop_dominated(*bandwidths);
  size_ = size;
  groups_ = survey.groups();

  std::map<double, std::vector<Sum>> alike;  // sums on links of one bandwidth
  std::map<double, std::vector<Sum>> waits;  // what crosses routes of one latency, forward
  for (const auto& [rows, by_group] : *bandwidths) {
    const Sum sum = shortened(rows);
    links_.emplace_back(rows, *std::max_element(by_group.begin(), by_group.end()));
    if (uniform(by_group)) {
      alike[by_group.front()].push_back(sum);
    } else {
      std::vector<Sum> back = {reversed(sum)};
      forward_.bandwidths.push_back({index_of({{sum}, by_group}), 1});
      backward_.bandwidths.push_back({index_of({std::move(back), by_group}), 1});
    }
  }
  const auto m = static_cast<Row>(size);
  for (Row row = 0; row < m * m; ++row) {
    if (row / m != row % m) waits[survey.latency_within(row / m, row % m)].push_back({row});
  }
  if (groups_ > 1) {
    // What leaves a group enters another: either tells, and a shared NIC's loads are these sums.
    const auto [out, in] = between_groups_of(m);
    latency_between_ = survey.latency_between();
    std::vector<Sum>& sums = waits[latency_between_];
    sums.insert(sums.end(), {out, in});
  }
  if (!waits.empty()) least_latency_ = waits.begin()->first;
  const auto use = [&](const std::map<double, std::vector<Sum>>& all, std::vector<Use>& there,
                       std::vector<Use>& back) {
    for (const auto& [value, sums] : all) {
      std::vector<Sum> reverse;
      for (const Sum& sum : sums) reverse.push_back(reversed(sum));
      there.push_back({index_of({sums, {}}), value});
      back.push_back({index_of({std::move(reverse), {}}), value});
    }
  };
  use(alike, forward_.bandwidths, backward_.bandwidths);
  use(waits, forward_.latencies, backward_.latencies);
  return true;
}

}  // namespace strata
