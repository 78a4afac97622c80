#include "sim/cluster/presets.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cluster/builder.h"
#include "sim/cluster/cluster_file.h"
#include "sim/cluster/cpu_cluster.h"
#include "sim/cluster/named_size.h"
#include "sim/text/embedded.h"
#include "sim/text/toml.h"

namespace strata {

std::span<const EmbeddedFile> embedded_clusters();

namespace {

/// How a family's size is named.
enum class Naming {
  devices,  ///< by hosts and devices of each: "-4x8"
  hosts,    ///< by hosts alone, whose devices are wired in one way only: "-4" or nothing
  racks,    ///< by racks and the devices of each that its NVLink joins: "-4xNVL72"
};

struct Family {
  std::string_view file;
  Naming naming;
  std::string_view example;

  std::string pattern() const {
    constexpr std::string_view kEnds[] = {"-HxD", "[-H]", "-RxNVLD"};
    return fmt::format("{}{}", file, kEnds[static_cast<std::size_t>(naming)]);
  }
};

constexpr Family kFamilies[] = {
    {"p100", Naming::devices, "p100-4x4"},     {"k80", Naming::devices, "k80-4x4"},
    {"dgx1-p100", Naming::hosts, "dgx1-p100"}, {"v100", Naming::devices, "v100-1x8"},
    {"a100", Naming::devices, "a100-1x8"},     {"h100", Naming::devices, "h100-1x8"},
    {"h200", Naming::devices, "h200-1x8"},     {"h800", Naming::devices, "h800-1x8"},
    {"h20", Naming::devices, "h20-1x8"},       {"b200", Naming::devices, "b200-1x8"},
    {"gb200", Naming::racks, "gb200-1xNVL72"}, {"gb300", Naming::racks, "gb300-1xNVL72"},
    {"l40s", Naming::devices, "l40s-1x8"},     {"rtx4090", Naming::devices, "rtx4090-1x8"},
    {"mi300x", Naming::devices, "mi300x-1x8"}};
constexpr std::int64_t kDevicesOfDgx1 = 8;
constexpr std::int64_t kDevicesOfRack = 72;
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

/// The devices of a host or rack that "8" or "NVL8" says; nothing if it says none.
std::optional<std::int64_t> parse_devices(const Family& family, std::string_view text) {
  if (family.naming != Naming::racks) return parse_count(text);
  if (!text.starts_with(kNvl)) return std::nullopt;
  return parse_count(text.substr(kNvl.size()));
}

/// The size that the rest of a name after its family's says, "-4x4"; nothing if it says none.
std::optional<GridSize> parse_size(const Family& family, std::string_view name) {
  std::string_view rest = name.substr(family.file.size());
  GridSize size{std::string(name), 1, kDevicesOfDgx1};
  if (family.naming == Naming::hosts && rest.empty()) return size;
  if (!rest.starts_with('-')) return std::nullopt;
  rest.remove_prefix(1);
  std::optional<std::int64_t> domains, devices = kDevicesOfDgx1;
  if (family.naming != Naming::hosts) {
    const std::size_t x = rest.find('x');
    if (x == std::string_view::npos) return std::nullopt;
    devices = parse_devices(family, rest.substr(x + 1));
    rest = rest.substr(0, x);
  }
  domains = parse_count(rest);
  if (!domains || !devices) return std::nullopt;
  size.domains = *domains;
  size.devices_per_domain = *devices;
  return size;
}

void check_size(const Family& family, const GridSize& size) {
  const std::int64_t limit = kDeviceLimit;
  const bool positive = size.domains >= 1 && size.devices_per_domain >= 1;
  const bool racks = family.naming == Naming::racks;
  if (racks && size.devices_per_domain > kDevicesOfRack) {
    throw InputError(fmt::format("cluster '{}': a rack's NVLink joins at most {} devices",
                                 size.name, kDevicesOfRack));
  }
  if (positive && size.domains <= limit && size.devices_per_domain <= limit / size.domains) return;
  throw InputError(
      fmt::format("cluster '{}': {} and devices must be at least 1, and their product at most {}",
                  size.name, racks ? "racks" : "hosts", limit));
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
    check_size(family, *size);
    return parse_cluster(text_of(family), file_name(family), size);
  }
  if (auto cpu = find_cpu_cluster(name)) return *std::move(cpu);
  throw InputError(
      fmt::format("unknown cluster '{}'; allowed: {} (H hosts or R racks of D devices; N devices)",
                  name, allowed_names()));
}

Cluster load_cluster(const std::string& name_or_path) {
  return name_or_path.ends_with(".toml") ? read_cluster(name_or_path)
                                         : preset_cluster(name_or_path);
}

}  // namespace strata
