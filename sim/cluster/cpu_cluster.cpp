#include "sim/cluster/cpu_cluster.h"

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cluster/builder.h"

namespace strata {
namespace {

std::string device_name(int device) {
  return fmt::format("cpu{}", device);
}

void add_links(int devices, BytesPerSecond bandwidth, Seconds latency, ClusterBuilder& builder) {
  for (int a = 0; a < devices; ++a) {
    for (int b = 0; b < devices; ++b) {
      if (a == b) continue;
      builder.add_link({device_name(a), device_name(b), bandwidth, latency, "", "intra"});
    }
  }
}

}  // namespace

Cluster cpu_cluster(int devices, BytesPerSecond bandwidth, Seconds latency,
                    std::int64_t channel_block) {
  const std::string name = fmt::format("cpu:{}", devices);
  if (devices < 1 || devices > kCpuDeviceLimit) {
    throw InputError(
        fmt::format("cluster '{}': devices must be from 1 to {}", name, kCpuDeviceLimit));
  }
  ClusterBuilder builder(name);
  for (int d = 0; d < devices; ++d) {
    builder.add_device({.name = device_name(d),
                        .kind = "cpu",
                        .host = "localhost",
                        .copy_engine = false,
                        .channel_block = channel_block});
  }
  add_links(devices, bandwidth, latency, builder);
  return std::move(builder).build();
}

}  // namespace strata
