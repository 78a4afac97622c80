#include "sim/study/host_memory.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "sim/simulate/simulate.h"
#include "sim/timeline/memory.h"

namespace strata {
namespace {

// "MemAvailable:   12345678 kB"
std::optional<Bytes> meminfo() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  for (std::int64_t value = 0; file >> key >> value; std::getline(file, unit)) {
    if (key == "MemAvailable:") return Bytes{value * 1024};
  }
  return std::nullopt;
}

// "max" where there is no limit.
std::optional<Bytes> group_limit() {
  std::ifstream file("/sys/fs/cgroup/memory.max");
  std::int64_t value = 0;
  if (file >> value) return Bytes{value};
  return std::nullopt;
}

}  // namespace

Bytes memory_estimate(const Plan& plan, const Cluster& cluster) {
  // When buffers come and go follows from the order of tasks; how long these take matters little.
  std::vector<Cost> costs(plan.size());
  for (Cost& cost : costs) cost.seconds = Seconds{1e-3};
  Bytes sum;
  for (Bytes peak : peak_memory(plan, simulate(plan, cluster, costs, 2))) sum += peak;
  return sum + Bytes{sum.value / 4};
}

std::optional<Bytes> available_memory() {
  const std::optional<Bytes> free = meminfo(), limit = group_limit();
  if (free && limit) return std::min(*free, *limit);
  return free ? free : limit;
}

}  // namespace strata
