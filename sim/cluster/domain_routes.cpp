#include "sim/cluster/domain_routes.h"

namespace strata {

DomainRoutes::DomainRoutes(const Cluster& cluster)
    : cluster_(cluster), domains_(cluster.symmetry()) {
  if (!domains_->holds()) domains_ = nullptr;
}

DomainRoutes::Ends DomainRoutes::example(DeviceId from, DeviceId to) const {
  if (!domains_) return {from, to};
  const std::uint32_t here = domains_->domain(from), there = domains_->domain(to);
  const std::uint32_t first = domains_->first_of(domains_->type(here));
  std::uint32_t other = domains_->first_of(domains_->type(there));
  if (here == there) {
    other = first;
  } else if (other == first) {
    other = domains_->second_of(domains_->type(there));
  }
  return {domains_->device(first, domains_->number(from)),
          domains_->device(other, domains_->number(to))};
}

std::size_t DomainRoutes::links(DeviceId from, DeviceId to) const {
  const Ends like = example(from, to);
  return cluster_.route(like.from, like.to).size();
}

Seconds DomainRoutes::latency(DeviceId from, DeviceId to) const {
  const Ends like = example(from, to);
  return cluster_.latency(like.from, like.to);
}

}  // namespace strata
