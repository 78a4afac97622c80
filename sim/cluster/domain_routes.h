#pragma once

// The routes of a cluster, told from those of one domain of each type: Cluster::route() searches
// the graph from every device that it is asked for and keeps what it finds, which for ten thousand
// devices takes minutes and gigabytes. Where domains are not known to be alike (domain_symmetry.h),
// the routes are the cluster's. Immutable; thread-safe.

#include <cstddef>
#include <memory>

#include "sim/cluster/cluster.h"
#include "sim/cluster/domain_symmetry.h"

namespace strata {

class DomainRoutes {
 public:
  /// `cluster` must outlive it.
  explicit DomainRoutes(const Cluster& cluster);

  /// Calls visit(LinkId) for every link of the route, in order. Throws as Cluster::route() does.
  template <class Visit>
  void for_each_link(DeviceId from, DeviceId to, Visit visit) const {
    const Ends like = example(from, to);
    for (LinkId link : cluster_.route(like.from, like.to)) {
      if (domains() == nullptr || domains_->is_shared(link)) {
        visit(link);
        continue;
      }
      const bool leaves = domains_->domain(link) == domains_->domain(like.from);
      visit(domains_->link(domains_->domain(leaves ? from : to), domains_->number(link)));
    }
  }
  /// How many links the route has.
  std::size_t links(DeviceId from, DeviceId to) const;
  Seconds latency(DeviceId from, DeviceId to) const;

  /// Null where nothing is known of the domains.
  const DomainSymmetry* domains() const { return domains_.get(); }

 private:
  struct Ends {
    DeviceId from, to;
  };
  /// Devices in the first domains of their types whose route is alike; the same ones where nothing
  /// is known of the domains.
  Ends example(DeviceId from, DeviceId to) const;

  const Cluster& cluster_;
  std::shared_ptr<const DomainSymmetry> domains_;
};

}  // namespace strata
