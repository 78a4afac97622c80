#include "sim/cluster/gpu_cluster.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "sim/cluster/builder.h"

namespace strata {

Cluster gpu_cluster(const std::string& name, std::span<const GpuDevice> devices) {
  ClusterBuilder builder(name);
  for (const GpuDevice& device : devices) {
    builder.add_device(
        {.name = device.name, .kind = device.kind, .host = "localhost", .copy_engine = false});
  }
  for (const GpuDevice& a : devices) {
    for (const GpuDevice& b : devices) {
      if (a.name == b.name) continue;
      const bool shared = a.gpu == b.gpu;
      builder.add_link({a.name, b.name, shared ? kSharedGpuBandwidth : kBetweenGpusBandwidth,
                        shared ? kSharedGpuLatency : kBetweenGpusLatency, "",
                        shared ? "intra" : "inter"});
    }
  }
  return std::move(builder).build();
}

// Consumer cards are told apart by all of their name, the others by its first word.
std::string gpu_kind(const std::string& driver_name) {
  std::string_view rest = driver_name;
  for (std::string_view maker : {"NVIDIA ", "Tesla "}) {
    if (rest.starts_with(maker)) rest.remove_prefix(maker.size());
  }
  if (!rest.starts_with("GeForce") && !rest.starts_with("RTX") && !rest.starts_with("Quadro")) {
    rest = rest.substr(0, rest.find_first_of(" -"));
  }
  std::string kind(rest);
  std::transform(kind.begin(), kind.end(), kind.begin(), [](unsigned char c) {
    return c == ' ' ? '-' : static_cast<char>(std::tolower(c));
  });
  return kind;
}

}  // namespace strata
