#include "sim/cluster/host_routes.h"

namespace strata {

HostRoutes::HostRoutes(const Cluster& cluster) : cluster_(cluster), hosts_(cluster.symmetry()) {
  if (!hosts_->holds()) hosts_ = nullptr;
}

HostRoutes::Ends HostRoutes::example(DeviceId from, DeviceId to) const {
  if (!hosts_) return {from, to};
  const std::uint32_t here = hosts_->host(from), there = hosts_->host(to);
  const std::uint32_t first = hosts_->first_of(hosts_->type(here));
  std::uint32_t other = hosts_->first_of(hosts_->type(there));
  if (here == there) {
    other = first;
  } else if (other == first) {
    other = hosts_->second_of(hosts_->type(there));
  }
  return {hosts_->device(first, hosts_->number(from)), hosts_->device(other, hosts_->number(to))};
}

std::size_t HostRoutes::links(DeviceId from, DeviceId to) const {
  const Ends like = example(from, to);
  return cluster_.route(like.from, like.to).size();
}

Seconds HostRoutes::latency(DeviceId from, DeviceId to) const {
  const Ends like = example(from, to);
  return cluster_.latency(like.from, like.to);
}

}  // namespace strata
