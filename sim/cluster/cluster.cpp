#include "sim/cluster/cluster.h"

#include <algorithm>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cluster/domain_symmetry.h"
#include "sim/cluster/routes.h"

namespace strata {
namespace {

/// The place of `name` in `order`, which sorts `named` by name; invalid if it is not there.
template <class Id, class Named>
Id find_by_name(const std::vector<std::uint32_t>& order, const std::vector<Named>& named,
                std::string_view name) {
  const auto place = std::lower_bound(
      order.begin(), order.end(), name,
      [&](std::uint32_t id, std::string_view key) { return named[id].name < key; });
  return place != order.end() && named[*place].name == name ? Id(*place) : Id();
}

}  // namespace

const std::string& Cluster::vertex_name(std::uint32_t vertex) const {
  return vertex < devices_.size() ? devices_[vertex].name : switches_[vertex - devices_.size()];
}

DeviceId Cluster::find_device(std::string_view name) const {
  return find_by_name<DeviceId>(by_name_, devices_, name);
}

LinkId Cluster::find_link(std::string_view name) const {
  return find_by_name<LinkId>(link_by_name_, links_, name);
}

bool Cluster::names_decide_routes(DeviceId from) const {
  return routes_->names_decide(from);
}

std::size_t Cluster::host_count() const {
  std::set<std::string_view> hosts;
  for (const Device& device : devices_) {
    if (!device.host.empty()) hosts.insert(device.host);
  }
  return hosts.size();
}

std::span<const LinkId> Cluster::route(DeviceId from, DeviceId to) const {
  if (from == to) return {};
  const std::span<const LinkId> route = routes_->route(from, to);
  if (!route.empty()) return route;
  throw InputError(fmt::format("{}: no links lead from {} to {}", routes_->source(),
                               devices_[from()].name, devices_[to()].name));
}

bool Cluster::connects(DeviceId from, DeviceId to) const {
  return from == to || !routes_->route(from, to).empty();
}

Seconds Cluster::latency(DeviceId from, DeviceId to) const {
  Seconds sum;
  for (const LinkId link : route(from, to)) sum += links_[link()].latency;
  return sum;
}

struct Cluster::Symmetry {
  std::once_flag once;
  std::shared_ptr<const DomainSymmetry> domains;
};

std::shared_ptr<const DomainSymmetry> Cluster::symmetry() const {
  std::call_once(symmetry_->once,
                 [this] { symmetry_->domains = std::make_shared<const DomainSymmetry>(*this); });
  return symmetry_->domains;
}

void Cluster::forget_symmetry() {
  symmetry_ = std::make_shared<Symmetry>();
}

bool Cluster::operator==(const Cluster& other) const {
  return name_ == other.name_ && devices_ == other.devices_ && switches_ == other.switches_ &&
         links_ == other.links_ && fixed_routes_ == other.fixed_routes_ &&
         communication_library_ == other.communication_library_;
}

}  // namespace strata
