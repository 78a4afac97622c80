#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "sim/importers/topology/hwloc_parts.h"

namespace strata {
namespace {

constexpr std::int64_t kMostIndex = std::numeric_limits<std::int64_t>::max();

enum OsDevice : std::int64_t { os_gpu = 1, os_network = 2, os_fabric = 3, os_coprocessor = 5 };

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

BytesPerSecond speed_of(const XmlElement& object) {
  return {object.number_or("pci_link_speed", 0, 0) * 1e9};
}

BytesPerSecond slower(BytesPerSecond a, BytesPerSecond b) {
  if (a.value == 0 || b.value == 0) return std::max(a, b);
  return std::min(a, b);
}

std::string info_of(const XmlElement& object, std::string_view name) {
  for (const XmlElement& info : object.children("info")) {
    if (info.text_or("name", "") == name) return info.text_or("value", "");
  }
  return "";
}

// "0302 [10de:20b0] [10de:134f] a1". What draws a console, as on most server boards, is no GPU.
bool is_nvidia_gpu(const std::string& pci_type) {
  return pci_type.starts_with("03") && pci_type.find("[10de:") != std::string::npos;
}

/// Of what a driver made of a PCI device.
void read_os_device(const XmlElement& object, bool display, HwlocIo& io, bool& wanted) {
  const std::string name = object.text_or("name", "");
  const std::int64_t type = object.integer_or("osdev_type", -1, -1, 1 << 20);
  if (object.has("gp_index")) io.indexes.push_back(hwloc_index(object));
  const bool computes = starts_with_any(name, {"cuda", "nvml", "rsmi", "ze", "opencl"});
  if (display && computes && (type == os_gpu || type == os_coprocessor)) {
    io.kind = PartKind::gpu;
    wanted = true;
    if (io.model.empty()) io.model = info_of(object, "GPUModel");
  }
  if (type != os_fabric && (type != os_network || io.fabric)) return;
  io.kind = PartKind::nic;
  io.name = name;
  io.fabric = type == os_fabric;
  wanted = true;
}

std::vector<HwlocIo> read_device(const XmlElement& object) {
  HwlocIo io{PartKind::gpu, object, speed_of(object)};
  const std::string type = object.text_or("pci_type", "");
  bool wanted = is_nvidia_gpu(type);
  if (object.has("gp_index")) io.indexes.push_back(hwloc_index(object));
  for (const XmlElement& below : object.children("object")) {
    const bool display = type.starts_with("03") || type.starts_with("12");
    if (below.text("type") == "OSDev") read_os_device(below, display, io, wanted);
  }
  if (!wanted || (io.kind == PartKind::nic && io.name.empty())) return {};
  return {std::move(io)};
}

std::vector<HwlocIo> read_bridge(const XmlElement& object) {
  std::vector<HwlocIo> below;
  for (const XmlElement& child : object.children("object")) {
    for (HwlocIo& io : read_hwloc_io(child)) below.push_back(std::move(io));
  }
  if (object.text_or("bridge_type", "").starts_with("0-")) return below;  // the host's
  const BytesPerSecond speed = speed_of(object);
  if (below.size() == 1) below.front().speed = slower(below.front().speed, speed);
  if (below.size() < 2) return below;
  HwlocIo bridge{PartKind::bridge, object, speed};
  bridge.below = std::move(below);
  return {std::move(bridge)};
}

}  // namespace

std::uint64_t hwloc_index(const XmlElement& object) {
  return static_cast<std::uint64_t>(object.integer("gp_index", 0, kMostIndex));
}

std::vector<HwlocIo> read_hwloc_io(const XmlElement& object) {
  const std::string type = object.text("type");
  if (type == "Bridge") return read_bridge(object);
  if (type == "PCIDev") return read_device(object);
  return {};
}

}  // namespace strata
