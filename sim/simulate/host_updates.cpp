#include "sim/simulate/host_updates.h"

namespace strata {

HostTimes::HostTimes(const Cluster& cluster, const HostUpdates& updates)
    : cluster_(cluster), updates_(updates) {
  for (const Device& device : cluster.devices()) ++devices_[device.host];
}

Seconds HostTimes::of(DeviceId device, HostPart part, Bytes bytes) const {
  const Device& of = cluster_[device];
  const auto all = static_cast<double>(bytes.value);
  if (part != HostPart::memory) {
    return Seconds{all / updates_.link.of(usual_host_link(of.kind)).value};
  }
  const std::size_t sharing = of.host.empty() ? 1 : devices_.at(of.host);
  const double rate = updates_.memory.of(kUsualHostMemory).value / static_cast<double>(sharing);
  return Seconds{all / rate};
}

}  // namespace strata
