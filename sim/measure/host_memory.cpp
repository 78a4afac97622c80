#include "sim/measure/host_memory.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "sim/simulate/simulate.h"
#include "sim/timeline/memory.h"

namespace strata {
namespace {

constexpr const char* kGroup = "/sys/fs/cgroup";

// Of lines like "MemAvailable:   12345678 kB" or "inactive_file 4096": the number after the key.
std::optional<std::int64_t> entry(const std::string& folder, const char* name, const char* wanted) {
  std::ifstream file(folder + name);
  std::string key, unit;
  for (std::int64_t value = 0; file >> key >> value; std::getline(file, unit)) {
    if (key == wanted) return value;
  }
  return std::nullopt;
}

std::optional<Bytes> meminfo(const std::string& root, const char* key) {
  const auto kibibytes = entry(root, "/proc/meminfo", key);
  if (!kibibytes) return std::nullopt;
  return Bytes{*kibibytes * 1024};
}

// "max" where there is no limit.
std::optional<Bytes> group_file(const std::string& root, const char* name) {
  std::ifstream file(root + kGroup + name);
  std::int64_t value = 0;
  if (file >> value) return Bytes{value};
  return std::nullopt;
}

// Files that were read and are used no more give way.
std::optional<Bytes> left_in_group(const std::string& root) {
  const auto limit = group_file(root, "/memory.max");
  if (!limit) return std::nullopt;
  const Bytes used = group_file(root, "/memory.current").value_or(Bytes{});
  const Bytes files{entry(root, "/sys/fs/cgroup/memory.stat", "inactive_file").value_or(0)};
  return Bytes{std::max<std::int64_t>(0, limit->value - used.value + files.value)};
}

std::optional<Bytes> lesser(std::optional<Bytes> a, std::optional<Bytes> b) {
  if (a && b) return std::min(*a, *b);
  return a ? a : b;
}

}  // namespace

std::vector<Bytes> memory_by_device(const Plan& plan, const Cluster& cluster) {
  // When buffers come and go follows from the order of tasks; how long these take matters little.
  std::vector<Cost> costs(plan.size());
  for (Cost& cost : costs) cost.seconds = Seconds{1e-3};
  std::vector<Bytes> needed = peak_memory(plan, simulate(plan, cluster, costs, 2));
  for (Bytes& bytes : needed) bytes += Bytes{bytes.value / 4};
  return needed;
}

Bytes memory_estimate(const Plan& plan, const Cluster& cluster) {
  Bytes sum;
  for (Bytes bytes : memory_by_device(plan, cluster)) sum += bytes;
  return sum;
}

std::optional<Bytes> available_memory(const std::string& root) {
  return lesser(meminfo(root, "MemAvailable:"), left_in_group(root));
}

std::optional<Bytes> total_memory(const std::string& root) {
  return lesser(meminfo(root, "MemTotal:"), group_file(root, "/memory.max"));
}

}  // namespace strata
