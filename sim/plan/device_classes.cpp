#include "sim/plan/device_classes.h"

#include <map>
#include <utility>

namespace strata {

DeviceClasses::DeviceClasses(std::size_t devices) : devices_(devices) {}

DeviceClasses::DeviceClasses(std::shared_ptr<const HostSymmetry> hosts,
                             std::span<const std::uint32_t> colours)
    : devices_(colours.size()),
      hosts_(std::move(hosts)),
      representatives_(devices_),
      alike_(devices_) {
  std::map<std::uint32_t, DeviceId> first;
  for (std::size_t h = 0; h < hosts_->hosts(); ++h) {
    for (std::size_t k = 0; k < hosts_->device_count(h); ++k) {
      const DeviceId device = hosts_->device(h, k);
      const DeviceId stands = first.try_emplace(colours[device()], device).first->second;
      representatives_[device()] = stands;
      ++alike_[stands()];
    }
  }
}

LinkId DeviceClasses::representative(LinkId link) const {
  if (!hosts_) return link;
  const std::uint32_t host = hosts_->host(link);
  if (hosts_->splits(host)) {
    return hosts_->own_link(representative(hosts_->owner(link)), hosts_->own_number(link));
  }
  const DeviceId stands = representative(hosts_->device(host, 0));
  return hosts_->link(hosts_->host(stands), hosts_->number(link));
}

std::int64_t DeviceClasses::members(DeviceId device) const {
  return hosts_ ? alike_[representative(device)()] : 1;
}

std::int64_t DeviceClasses::members(LinkId link) const {
  if (!hosts_) return 1;
  const std::uint32_t host = hosts_->host(link);
  return members(hosts_->splits(host) ? hosts_->owner(link) : hosts_->device(host, 0));
}

std::vector<DeviceId> DeviceClasses::representatives() const {
  std::vector<DeviceId> result;
  for (std::size_t d = 0; d < devices_; ++d) {
    if (is_representative(DeviceId(d))) result.emplace_back(d);
  }
  return result;
}

bool DeviceClasses::share_host(DeviceId a, DeviceId b) const {
  return hosts_ && hosts_->host(a) == hosts_->host(b);
}

}  // namespace strata
