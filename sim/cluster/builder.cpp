#include "sim/cluster/builder.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "sim/cluster/routes.h"

namespace strata {
namespace {

constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();

template <class Named, class Before>
std::vector<std::uint32_t> order_by_name(const std::vector<Named>& named, const Before& before) {
  std::vector<std::uint32_t> order(named.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return before(named[a].name, named[b].name);
  });
  return order;
}

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The run of digits at `at`, without zeros in front.
std::string_view number_at(std::string_view text, std::size_t& at) {
  while (at < text.size() && text[at] == '0') ++at;
  const std::size_t begin = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  return text.substr(begin, at - begin);
}

/// The alphabet, but with numbers by value: gpu9 before gpu10. So equal hosts get equal routes.
bool before_by_number(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view x = number_at(a, i), y = number_at(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
    }
  }
  return a.size() - i != b.size() - j ? a.size() - i < b.size() - j : a < b;
}

}  // namespace

ClusterBuilder::ClusterBuilder(std::string name) {
  source_ = fmt::format("cluster {}", name);
  where_ = {source_, 0};
  cluster_.name_ = std::move(name);
}

ClusterBuilder::ClusterBuilder(const Cluster& like) : ClusterBuilder(like.name()) {
  source_ = like.routes_->source();
}

void ClusterBuilder::claim_name(const std::string& name, std::string_view what) {
  if (name.empty()) return errors_.add(where_, fmt::format("a {} needs a name", what));
  if (!vertices_.emplace(name, kUnknown).second) {
    errors_.add(where_, fmt::format("'{}' names more than one device or switch", name));
  }
}

void ClusterBuilder::add_device(Device device) {
  claim_name(device.name, "device");
  if (device.memory == Bytes{}) {
    errors_.add(where_,
                fmt::format("device '{}': memory must be positive, as \"40 GB\"", device.name));
  }
  if (!(device.speed >= kLeastSpeed && device.speed <= kMostSpeed)) {
    errors_.add(where_, fmt::format("device '{}': speed must be from {:g} to {:g}; it is {}",
                                    device.name, kLeastSpeed, kMostSpeed, device.speed));
  }
  if (cluster_.devices_.size() == kDeviceLimit) {
    errors_.add(where_, fmt::format("a cluster has at most {} devices", kDeviceLimit));
  }
  cluster_.devices_.push_back(std::move(device));
}

void ClusterBuilder::add_switch(std::string name) {
  claim_name(name, "switch");
  if (cluster_.switches_.size() == kSwitchLimit) {
    errors_.add(where_, fmt::format("a cluster has at most {} switches", kSwitchLimit));
  }
  cluster_.switches_.push_back(std::move(name));
}

void ClusterBuilder::add_link(LinkSpec link) {
  if (links_.size() == kLinkLimit) {
    errors_.add(where_, fmt::format("a cluster has at most {} links", kLinkLimit));
  }
  links_.push_back({std::move(link), where_});
}

void ClusterBuilder::add_duplex(LinkSpec link) {
  LinkSpec back = link;
  std::swap(back.from, back.to);
  if (!back.name.empty()) back.name += ".back";
  add_link(std::move(link));
  add_link(std::move(back));
}

void ClusterBuilder::add_route(std::string from, std::string to, std::vector<std::string> links) {
  routes_.push_back({std::move(from), std::move(to), std::move(links), where_});
}

void ClusterBuilder::number_vertices() {
  std::uint32_t next = 0;
  for (const Device& device : cluster_.devices_) vertices_[device.name] = next++;
  for (const std::string& name : cluster_.switches_) vertices_[name] = next++;
}

std::uint32_t ClusterBuilder::find_vertex(const std::string& name, const Location& where) {
  const auto found = vertices_.find(name);
  if (found != vertices_.end()) return found->second;
  errors_.add(where, fmt::format("no device or switch is named '{}'", name));
  return kUnknown;
}

void ClusterBuilder::check(const PlacedLink& link) {
  const auto& [spec, where] = link;
  const std::string what = fmt::format("the link from '{}' to '{}'", spec.from, spec.to);
  if (spec.from == spec.to) errors_.add(where, what + " leads back to where it starts");
  if (!(spec.bandwidth >= kLeastBandwidth && spec.bandwidth <= kMostBandwidth)) {
    errors_.add(where,
                fmt::format("{}: bandwidth must be from {:g} to {:g} B/s; it is {} B/s", what,
                            kLeastBandwidth.value, kMostBandwidth.value, spec.bandwidth.value));
  }
  if (!(spec.latency.value >= 0 && spec.latency <= kLatencyLimit)) {
    errors_.add(where, fmt::format("{}: latency must be from 0 to {} s; it is {} s", what,
                                   kLatencyLimit.value, spec.latency.value));
  }
}

std::string ClusterBuilder::name_of(const LinkSpec& spec, const Location& where) {
  if (spec.name.empty()) {
    const std::string ends = fmt::format("{}>{}", spec.from, spec.to);
    std::string name = ends;
    for (int i = 2; !link_names_.insert(name).second; ++i) name = fmt::format("{}#{}", ends, i);
    return name;
  }
  if (!link_names_.insert(spec.name).second) {
    errors_.add(where, fmt::format("'{}' names more than one link", spec.name));
  }
  return spec.name;
}

void ClusterBuilder::resolve_links() {
  for (const PlacedLink& link : links_) {
    const LinkSpec& spec = link.spec;
    check(link);
    cluster_.links_.push_back({name_of(spec, link.where), find_vertex(spec.from, link.where),
                               find_vertex(spec.to, link.where), spec.bandwidth, spec.latency,
                               spec.kind});
  }
  cluster_.by_name_ = order_by_name(cluster_.devices_, std::less<>());
  cluster_.link_by_name_ = order_by_name(cluster_.links_, std::less<>());
}

void ClusterBuilder::resolve_route(const PlacedRoute& route) {
  FixedRoute fixed{cluster_.find_device(route.from), cluster_.find_device(route.to), {}};
  const std::size_t before = errors_.count();
  for (const auto& [name, id] : {std::pair(&route.from, fixed.from), {&route.to, fixed.to}}) {
    if (!id.valid()) errors_.add(route.where, fmt::format("no device is named '{}'", *name));
  }
  for (const std::string& name : route.links) {
    fixed.links.push_back(cluster_.find_link(name));
    if (!fixed.links.back().valid()) {
      errors_.add(route.where, fmt::format("no link is named '{}'", name));
    }
  }
  if (errors_.count() == before && is_path(route, fixed)) {
    cluster_.fixed_routes_.push_back(std::move(fixed));
  }
}

bool ClusterBuilder::is_path(const PlacedRoute& route, const FixedRoute& fixed) {
  const std::size_t before = errors_.count();
  if (fixed.from == fixed.to) {
    errors_.add(route.where, fmt::format("the route from '{}' leads to itself", route.from));
  }
  std::uint32_t at = fixed.from.value;
  for (const LinkId id : fixed.links) {
    const Link& link = cluster_.links_[id()];
    if (link.from != at && errors_.count() == before) {
      errors_.add(route.where,
                  fmt::format("link '{}' starts at '{}', but the route is at '{}'", link.name,
                              cluster_.vertex_name(link.from), cluster_.vertex_name(at)));
    }
    at = link.to;
  }
  if (at != fixed.to.value && errors_.count() == before) {
    errors_.add(route.where,
                fmt::format("the route to '{}' ends at '{}'", route.to, cluster_.vertex_name(at)));
  }
  return errors_.count() == before;
}

void ClusterBuilder::sort_routes() {
  std::vector<FixedRoute>& routes = cluster_.fixed_routes_;
  const auto ends = [](const FixedRoute& r) { return std::tuple(r.from, r.to); };
  std::stable_sort(routes.begin(), routes.end(),
                   [&](const auto& a, const auto& b) { return ends(a) < ends(b); });
  const auto twice = std::adjacent_find(routes.begin(), routes.end(),
                                        [&](auto& a, auto& b) { return ends(a) == ends(b); });
  if (twice == routes.end()) return;
  errors_.add(where_, fmt::format("there are two routes from '{}' to '{}'",
                                  cluster_[twice->from].name, cluster_[twice->to].name));
}

Cluster ClusterBuilder::build() && {
  if (cluster_.devices_.empty()) errors_.add(where_, "a cluster needs at least one device");
  number_vertices();
  resolve_links();
  errors_.throw_if_any();  // routes over links that are wrong would only repeat it
  for (const PlacedRoute& route : routes_) resolve_route(route);
  sort_routes();
  errors_.throw_if_any();
  cluster_.forget_symmetry();
  cluster_.routes_ = std::make_shared<const RouteTable>(
      cluster_.devices_, cluster_.devices_.size() + cluster_.switches_.size(), cluster_.links_,
      order_by_name(cluster_.links_, before_by_number), cluster_.fixed_routes_, std::move(source_));
  return std::move(cluster_);
}

}  // namespace strata
