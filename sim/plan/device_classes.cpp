#include "sim/plan/device_classes.h"

#include <map>
#include <utility>

namespace strata {

DeviceClasses::DeviceClasses(std::size_t devices) : devices_(devices) {}

DeviceClasses::DeviceClasses(std::shared_ptr<const DomainSymmetry> domains,
                             std::span<const std::uint32_t> colours)
    : devices_(colours.size()),
      domains_(std::move(domains)),
      representatives_(devices_),
      alike_(devices_) {
  std::map<std::uint32_t, DeviceId> first;
  for (std::size_t h = 0; h < domains_->domains(); ++h) {
    for (std::size_t k = 0; k < domains_->device_count(h); ++k) {
      const DeviceId device = domains_->device(h, k);
      const DeviceId stands = first.try_emplace(colours[device()], device).first->second;
      representatives_[device()] = stands;
      ++alike_[stands()];
    }
  }
}

LinkId DeviceClasses::representative(LinkId link) const {
  if (!domains_ || domains_->is_shared(link)) return link;
  const std::uint32_t domain = domains_->domain(link);
  if (domains_->splits(domain)) {
    return domains_->own_link(representative(domains_->owner(link)), domains_->own_number(link));
  }
  const DeviceId stands = representative(domains_->device(domain, 0));
  return domains_->link(domains_->domain(stands), domains_->number(link));
}

std::int64_t DeviceClasses::members(DeviceId device) const {
  return domains_ ? alike_[representative(device)()] : 1;
}

std::int64_t DeviceClasses::members(LinkId link) const {
  if (!domains_ || domains_->is_shared(link)) return 1;
  const std::uint32_t domain = domains_->domain(link);
  return members(domains_->splits(domain) ? domains_->owner(link) : domains_->device(domain, 0));
}

std::vector<DeviceId> DeviceClasses::representatives() const {
  std::vector<DeviceId> result;
  for (std::size_t d = 0; d < devices_; ++d) {
    if (is_representative(DeviceId(d))) result.emplace_back(d);
  }
  return result;
}

bool DeviceClasses::is_shared(LinkId link) const {
  return domains_ && domains_->is_shared(link);
}

bool DeviceClasses::share_domain(DeviceId a, DeviceId b) const {
  return domains_ && domains_->domain(a) == domains_->domain(b);
}

}  // namespace strata
