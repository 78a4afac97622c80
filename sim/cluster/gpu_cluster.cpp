#include "sim/cluster/gpu_cluster.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "sim/cluster/builder.h"

namespace strata {
namespace {

bool share_a_gpu(const GpuDevice& a, const GpuDevice& b) {
  return a.gpu == b.gpu && a.host == b.host;
}

LinkSpec link_between(const GpuDevice& a, const GpuDevice& b) {
  if (a.host != b.host) {
    return {a.name, b.name, kBetweenHostsBandwidth, kBetweenHostsLatency, "", "inter"};
  }
  if (share_a_gpu(a, b)) {
    return {a.name, b.name, kSharedGpuBandwidth, kSharedGpuLatency, "", "intra"};
  }
  return {a.name, b.name, kBetweenGpusBandwidth, kBetweenGpusLatency, "", "inter"};
}

}  // namespace

Cluster gpu_cluster(const std::string& name, std::span<const GpuDevice> devices) {
  ClusterBuilder builder(name);
  for (const GpuDevice& device : devices) {
    const auto on_gpu = std::count_if(devices.begin(), devices.end(), [&](const GpuDevice& other) {
      return share_a_gpu(other, device);
    });
    builder.add_device({.name = device.name,
                        .kind = device.kind,
                        .host = device.host,
                        .copy_engine = on_gpu == 1,
                        .assembles = true});
  }
  for (const GpuDevice& a : devices) {
    for (const GpuDevice& b : devices) {
      if (a.name == b.name) continue;
      builder.add_link(link_between(a, b));
    }
  }
  return std::move(builder).build();
}

// Consumer cards are told apart by all of their name, the others by its first word.
std::string gpu_kind(const std::string& driver_name, std::size_t sharing) {
  std::string_view rest = driver_name;
  for (std::string_view maker : {"NVIDIA ", "Tesla "}) {
    if (rest.starts_with(maker)) rest.remove_prefix(maker.size());
  }
  const bool consumers = rest.starts_with("GeForce ");
  if (consumers) rest.remove_prefix(std::string_view("GeForce ").size());
  if (!consumers && !rest.starts_with("RTX") && !rest.starts_with("Quadro")) {
    rest = rest.substr(0, rest.find_first_of(" -"));
  }
  std::string kind(rest);
  std::transform(kind.begin(), kind.end(), kind.begin(), [](unsigned char c) {
    return c == ' ' ? '-' : static_cast<char>(std::tolower(c));
  });
  return sharing == 1 ? kind : kind + "/" + std::to_string(sharing);
}

}  // namespace strata
