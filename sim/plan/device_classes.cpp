#include "sim/plan/device_classes.h"

#include <map>
#include <utility>

namespace strata {

DeviceClasses::DeviceClasses(std::size_t devices) : devices_(devices) {}

DeviceClasses::DeviceClasses(std::shared_ptr<const HostSymmetry> hosts,
                             std::span<const std::uint32_t> colours)
    : devices_(0), hosts_(std::move(hosts)), alike_(colours.size()) {
  std::map<std::uint32_t, std::uint32_t> first;
  for (std::size_t h = 0; h < colours.size(); ++h) {
    devices_ += hosts_->device_count(h);
    const auto at = first.try_emplace(colours[h], static_cast<std::uint32_t>(h)).first;
    standing_for_.push_back(at->second);
    ++alike_[at->second];
  }
  for (std::size_t d = 0; d < devices_; ++d) {
    const DeviceId device(d);
    representatives_.push_back(
        hosts_->device(standing_for_[hosts_->host(device)], hosts_->number(device)));
  }
}

LinkId DeviceClasses::representative(LinkId link) const {
  if (!hosts_) return link;
  return hosts_->link(standing_for_[hosts_->host(link)], hosts_->number(link));
}

std::int64_t DeviceClasses::members(DeviceId device) const {
  return hosts_ ? alike_[standing_for_[hosts_->host(device)]] : 1;
}

std::int64_t DeviceClasses::members(LinkId link) const {
  return hosts_ ? alike_[standing_for_[hosts_->host(link)]] : 1;
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
