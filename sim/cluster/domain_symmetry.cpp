#include "sim/cluster/domain_symmetry.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

namespace strata {
namespace {

constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kShared = kUnreached - 1;

/// The domains by name, or one for each device.
std::vector<std::uint32_t> domains_of_devices(const Cluster& cluster) {
  std::vector<std::uint32_t> domains;
  std::map<std::string_view, std::uint32_t> numbers;
  for (const Device& device : cluster.devices()) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    domains.push_back(numbers.try_emplace(device.fast_domain(), next).first->second);
  }
  if (numbers.size() > 1 && !numbers.contains("")) return domains;
  for (std::size_t d = 0; d < domains.size(); ++d) domains[d] = static_cast<std::uint32_t>(d);
  return domains;
}

/// Numbers things within their owners, and sorts them by owner.
template <class Place, class Id>
void sort_out(std::vector<Place>& places, std::size_t owners, std::vector<std::uint32_t>& firsts,
              std::vector<Id>& sorted) {
  firsts.assign(owners + 1, 0);
  for (const Place& place : places) ++firsts[place.domain + 1];
  for (std::size_t h = 1; h < firsts.size(); ++h) firsts[h] += firsts[h - 1];
  sorted.resize(places.size());
  std::vector<std::uint32_t> next(firsts.begin(), firsts.end() - 1);
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::uint32_t& at = next[places[i].domain];
    places[i].number = at - firsts[places[i].domain];
    sorted[at++] = Id(i);
  }
}

/// Who can be reached from each vertex over one link, whatever its direction.
class Neighbours {
 public:
  explicit Neighbours(const Cluster& cluster)
      : ends_(cluster.device_count() + cluster.switches().size() + 1),
        all_(2 * cluster.links().size()) {
    for (const Link& link : cluster.links()) ++ends_[link.from + 1], ++ends_[link.to + 1];
    for (std::size_t v = 1; v < ends_.size(); ++v) ends_[v] += ends_[v - 1];
    std::vector<std::uint32_t> next(ends_.begin(), ends_.end() - 1);
    for (const Link& link : cluster.links()) {
      all_[next[link.from]++] = link.to;
      all_[next[link.to]++] = link.from;
    }
  }
  std::span<const std::uint32_t> operator[](std::size_t vertex) const {
    return std::span(all_).subspan(ends_[vertex], ends_[vertex + 1] - ends_[vertex]);
  }
  std::size_t vertices() const { return ends_.size() - 1; }

 private:
  std::vector<std::uint32_t> ends_, all_;
};

/// By vertex: whose devices reach it over the fewest links, or kShared where those of several do.
/// `domains`: by device, who has it.
std::vector<std::uint32_t> owners_of_vertices(const Cluster& cluster,
                                              std::vector<std::uint32_t> domains) {
  const Neighbours neighbours(cluster);
  std::vector<std::uint32_t> found(neighbours.vertices(), kUnreached);
  std::vector<std::uint32_t> wave, next;
  for (std::uint32_t d = 0; d < domains.size(); ++d) wave.push_back(d);
  domains.resize(neighbours.vertices(), kUnreached);
  while (!wave.empty()) {
    next.clear();
    for (const std::uint32_t vertex : wave) {
      for (const std::uint32_t near : neighbours[vertex]) {
        if (domains[near] != kUnreached) continue;
        if (found[near] == kUnreached) next.push_back(near);
        found[near] =
            found[near] == kUnreached || found[near] == domains[vertex] ? domains[vertex] : kShared;
      }
    }
    for (const std::uint32_t vertex : next) domains[vertex] = found[vertex];
    wave.clear();
    for (const std::uint32_t vertex : next) {
      if (domains[vertex] != kShared) wave.push_back(vertex);
    }
  }
  std::replace(domains.begin(), domains.end(), kUnreached, kShared);
  return domains;
}

/// The number of each vertex among those of its owner; of a shared one, its own.
std::vector<std::uint64_t> numbers_of_vertices(const std::vector<std::uint32_t>& owners,
                                               std::size_t count) {
  std::vector<std::uint64_t> numbers(owners.size()), next(count);
  for (std::size_t v = 0; v < owners.size(); ++v) {
    numbers[v] = owners[v] == kShared ? ~std::uint64_t{v} : next[owners[v]]++;
  }
  return numbers;
}

/// What is said of a domain, or of a device and what is its own, as a row of numbers.
class Description {
 public:
  Description(const Cluster& cluster, const std::vector<std::uint64_t>& vertices)
      : cluster_(cluster), vertices_(vertices) {
    for (const Device& device : cluster.devices()) ++on_host_[device.host];
  }

  void add(DeviceId id) {
    const Device& device = cluster_[id];
    row_.push_back(kinds_.try_emplace(device.kind, kinds_.size()).first->second);
    row_.push_back(std::bit_cast<std::uint64_t>(device.speed));
    row_.push_back(static_cast<std::uint64_t>(device.copy_engine) * 4 +
                   static_cast<std::uint64_t>(device.assembles) * 2 +
                   static_cast<std::uint64_t>(device.forwards));
    row_.push_back(static_cast<std::uint64_t>(device.channel_block));
    row_.push_back(on_host_.at(device.host));
  }
  void add(LinkId id) {
    const Link& link = cluster_[id];
    row_.insert(row_.end(), {vertices_[link.from], vertices_[link.to],
                             std::bit_cast<std::uint64_t>(link.bandwidth.value),
                             std::bit_cast<std::uint64_t>(link.latency.value)});
  }
  /// The row, which is empty again then.
  std::vector<std::uint64_t> take() { return std::exchange(row_, {}); }

 private:
  const Cluster& cluster_;
  const std::vector<std::uint64_t>& vertices_;
  std::map<std::string_view, std::uint64_t> kinds_;
  std::map<std::string_view, std::uint64_t> on_host_;  // devices, which share what a host has
  std::vector<std::uint64_t> row_;
};

}  // namespace

DomainSymmetry::DomainSymmetry(const Cluster& cluster)
    : devices_(cluster.device_count()), links_(cluster.links().size()) {
  holds_ = cluster.fixed_routes().empty() && find_domains(cluster) && routes_are_alike(cluster);
}

// Every link must belong to one domain, because it lies in it or joins it to a shared switch, or
// join two shared switches.
bool DomainSymmetry::find_domains(const Cluster& cluster) {
  const std::vector<std::uint32_t> domains =
      owners_of_vertices(cluster, domains_of_devices(cluster));
  std::uint32_t count = 0;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    devices_[d].domain = domains[d];
    count = std::max(count, domains[d] + 1);
  }
  for (std::size_t l = 0; l < links_.size(); ++l) {
    const std::uint32_t from = domains[cluster[LinkId(l)].from],
                        to = domains[cluster[LinkId(l)].to];
    if (from != to && from != kShared && to != kShared) return false;
    links_[l].domain = std::min({from, to, count});
  }
  sort_out(devices_, count, first_device_, domain_devices_);
  sort_out(links_, count + 1, first_link_, domain_links_);
  find_types(cluster, domains);
  find_own_links(cluster);
  return true;
}

void DomainSymmetry::find_types(const Cluster& cluster, const std::vector<std::uint32_t>& domains) {
  const std::vector<std::uint64_t> vertices = numbers_of_vertices(domains, this->domains());
  Description description(cluster, vertices);
  std::map<std::vector<std::uint64_t>, std::uint32_t> known;
  for (std::size_t h = 0; h < this->domains(); ++h) {
    for (std::size_t k = 0; k < device_count(h); ++k) description.add(device(h, k));
    for (std::uint32_t l = first_link_[h]; l < first_link_[h + 1]; ++l) {
      description.add(domain_links_[l]);
    }
    const auto [at, fresh] =
        known.try_emplace(description.take(), static_cast<std::uint32_t>(known.size()));
    const std::uint32_t type = at->second, domain = static_cast<std::uint32_t>(h);
    types_.push_back(type);
    if (fresh) examples_.emplace_back(domain, domain);
    if (examples_[type].first == examples_[type].second) examples_[type].second = domain;
  }
}

// A link is a device's own where it joins what is nearest to the device, and nothing that is
// nearest to another. Links that are shared, and those from device to device, count as the first
// device's.
void DomainSymmetry::find_own_links(const Cluster& cluster) {
  std::vector<std::uint32_t> all(devices_.size());
  std::iota(all.begin(), all.end(), 0U);
  const std::vector<std::uint32_t> owners = owners_of_vertices(cluster, std::move(all));
  own_links_ = links_;
  splits_.assign(domains(), true);
  for (std::size_t l = 0; l < links_.size(); ++l) {
    const std::uint32_t from = owners[cluster[LinkId(l)].from], to = owners[cluster[LinkId(l)].to];
    if (is_shared(LinkId(l))) {
      own_links_[l].domain = static_cast<std::uint32_t>(devices_.size());
      continue;
    }
    const std::uint32_t domain = links_[l].domain;
    const bool own = from != to ? from == kShared || to == kShared : from != kShared;
    splits_[domain] = splits_[domain] && own;
    own_links_[l].domain = own ? std::min(from, to) : device(domain, 0).value;
  }
  sort_out(own_links_, devices_.size() + 1, first_own_link_, device_links_);
  find_alike(cluster, numbers_of_vertices(owners, devices_.size()));
}

void DomainSymmetry::find_alike(const Cluster& cluster,
                                const std::vector<std::uint64_t>& vertices) {
  Description description(cluster, vertices);
  first_alike_.resize(devices_.size());
  for (std::size_t h = 0; h < domains(); ++h) {
    std::map<std::vector<std::uint64_t>, std::uint32_t> known;
    for (std::uint32_t k = 0; k < device_count(h); ++k) {
      const DeviceId device = this->device(h, k);
      description.add(device);
      for (std::uint32_t l = first_own_link_[device()]; l < first_own_link_[device() + 1]; ++l) {
        description.add(device_links_[l]);
      }
      const std::uint32_t first = known.try_emplace(description.take(), k).first->second;
      first_alike_[device()] = splits_[h] ? first : k;
    }
  }
}

// A route goes through the domains at its ends and shared links alone, and no name decides which
// way. What holds for one domain of a type holds for all.
bool DomainSymmetry::routes_are_alike(const Cluster& cluster) const {
  std::uint32_t seen = 0;
  for (std::size_t h = 0; h < domains(); ++h) {
    if (types_[h] != seen) continue;
    ++seen;
    for (std::size_t k = 0; k < device_count(h); ++k) {
      const DeviceId from = device(h, k);
      if (cluster.names_decide_routes(from)) return false;
      for (std::size_t to = 0; to < devices_.size(); ++to) {
        if (!cluster.connects(from, DeviceId(to))) return false;
        for (LinkId link : cluster.route(from, DeviceId(to))) {
          const bool at_ends = domain(link) == h || domain(link) == domain(DeviceId(to));
          if (!at_ends && !is_shared(link)) return false;
        }
      }
    }
  }
  return true;
}

}  // namespace strata
