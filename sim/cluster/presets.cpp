#include "sim/cluster/presets.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cluster/builder.h"
#include "sim/cluster/cluster_file.h"
#include "sim/cluster/cpu_cluster.h"
#include "sim/text/embedded.h"
#include "sim/text/toml.h"

namespace strata {

std::span<const EmbeddedFile> embedded_clusters();

namespace {

/// How a family's size is named: by hosts and devices, or, where the devices of a host are wired
/// in one way only, by hosts alone.
struct Family {
  std::string_view file;
  bool fixed_host;
  std::string_view example;

  std::string pattern() const {
    return fixed_host ? fmt::format("{}[-H]", file) : fmt::format("{}-HxD", file);
  }
};

constexpr Family kFamilies[] = {{"p100", false, "p100-4x4"},      {"k80", false, "k80-4x4"},
                                {"dgx1-p100", true, "dgx1-p100"}, {"v100", false, "v100-1x8"},
                                {"a100", false, "a100-1x8"},      {"h100", false, "h100-1x8"},
                                {"h200", false, "h200-1x8"},      {"b200", false, "b200-1x8"}};
constexpr std::int64_t kDevicesOfDgx1 = 8;
constexpr std::string_view kCpu = "cpu:";

std::string file_name(const Family& family) {
  return fmt::format("{}.toml", family.file);
}

std::string_view text_of(const Family& family) {
  for (const EmbeddedFile& file : embedded_clusters()) {
    if (file.name == family.file) return file.text;
  }
  throw InternalError(fmt::format("the cluster {} is not in this build", family.file));
}

std::optional<std::int64_t> parse_count(std::string_view text) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc::result_out_of_range) count = kDeviceLimit + 1;
  if (end != text.data() + text.size() || text.empty() || text[0] == '-') return std::nullopt;
  return count;
}

/// The size that the rest of a name after its family's says, "-4x4"; nothing if it says none.
std::optional<GridSize> parse_size(const Family& family, std::string_view name) {
  std::string_view rest = name.substr(family.file.size());
  GridSize size{std::string(name), 1, kDevicesOfDgx1};
  if (family.fixed_host && rest.empty()) return size;
  if (!rest.starts_with('-')) return std::nullopt;
  rest.remove_prefix(1);
  std::optional<std::int64_t> hosts, devices = kDevicesOfDgx1;
  if (!family.fixed_host) {
    const std::size_t x = rest.find('x');
    if (x == std::string_view::npos) return std::nullopt;
    devices = parse_count(rest.substr(x + 1));
    rest = rest.substr(0, x);
  }
  hosts = parse_count(rest);
  if (!hosts || !devices) return std::nullopt;
  size.hosts = *hosts;
  size.devices_per_host = *devices;
  return size;
}

void check_size(const GridSize& size) {
  const std::int64_t limit = kDeviceLimit;
  const bool positive = size.hosts >= 1 && size.devices_per_host >= 1;
  if (positive && size.hosts <= limit && size.devices_per_host <= limit / size.hosts) return;
  throw InputError(fmt::format(
      "cluster '{}': hosts and devices must be at least 1, and their product at most {}", size.name,
      limit));
}

/// The cluster of "cpu:4"; nothing for another name.
std::optional<Cluster> find_cpu_cluster(std::string_view name) {
  if (!name.starts_with(kCpu)) return std::nullopt;
  const std::optional<std::int64_t> devices = parse_count(name.substr(kCpu.size()));
  if (!devices) return std::nullopt;
  if (*devices < 1 || *devices > kCpuDeviceLimit) {
    throw InputError(
        fmt::format("cluster '{}': devices must be from 1 to {}", name, kCpuDeviceLimit));
  }
  return cpu_cluster(static_cast<int>(*devices));
}

std::string allowed_names() {
  std::string names;
  for (const Family& family : kFamilies) names += family.pattern() + ", ";
  return names + "cpu:N, or a file ending in .toml";
}

}  // namespace

std::vector<Preset> presets() {
  std::vector<Preset> list;
  for (const Family& family : kFamilies) {
    const Document document = parse_toml(text_of(family), file_name(family));
    list.push_back(
        {family.pattern(), std::string(family.example), document.table().string("description")});
  }
  list.push_back({"cpu:N", "cpu:2", std::string(kCpuClusterDescription)});
  return list;
}

Cluster preset_cluster(std::string_view name) {
  for (const Family& family : kFamilies) {
    if (!name.starts_with(family.file)) continue;
    const std::optional<GridSize> size = parse_size(family, name);
    if (!size) continue;
    check_size(*size);
    return parse_cluster(text_of(family), file_name(family), size);
  }
  if (auto cpu = find_cpu_cluster(name)) return *std::move(cpu);
  throw InputError(
      fmt::format("unknown cluster '{}'; allowed: {} (H hosts of D devices; N devices)", name,
                  allowed_names()));
}

Cluster load_cluster(const std::string& name_or_path) {
  return name_or_path.ends_with(".toml") ? read_cluster(name_or_path)
                                         : preset_cluster(name_or_path);
}

}  // namespace strata
