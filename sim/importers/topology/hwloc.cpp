#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/cluster/cpu_cluster.h"
#include "sim/cluster/gpu_cluster.h"
#include "sim/importers/topology/hwloc_parts.h"
#include "sim/importers/topology/machine_readers.h"
#include "sim/importers/topology/nominal.h"

namespace strata {
namespace {

class HwlocReader {
 public:
  explicit HwlocReader(const MachineOptions& options) : options_(options) {}

  Machine read(const XmlElement& topology) {
    const std::vector<XmlElement> objects = topology.children("object");
    if (objects.size() != 1 || objects[0].text("type") != "Machine") {
      topology.fail("there is no <object type=\"Machine\"> in it");
    }
    const XmlElement& machine = objects.front();
    read_processors(machine, kNoPart);
    if (processors_ == 0) add_processor();
    machine_.socket = options_.socket.value_or(kNominalSocket);
    prefer_fabrics();
    for (const auto& [io, processor] : io_) add_io(io, processor == kNoPart ? 0 : processor);
    if (gpus_ == 0) add_cores(machine);
    add_nvlinks(topology);
    add_notes();
    return std::move(machine_);
  }

 private:
  std::size_t add_processor() {
    machine_.parts.push_back({PartKind::processor, fmt::format("package{}", processors_++)});
    return machine_.parts.size() - 1;
  }

  // Returns the first processor at or below the object, or `processor`, which it is in. Version 1
  // hangs the bridges of a package on the NUMA node around it, and those whose place is not known
  // on the machine: they are taken to be the first package's there.
  std::size_t read_processors(const XmlElement& object, std::size_t processor) {
    const std::string type = object.text("type");
    if (type == "Package" || type == "Socket") {
      processor = add_processor();
      if (object.has("gp_index")) index_[hwloc_index(object)] = processor;
    }
    if (type == "Core") cores_.push_back(processor);
    std::size_t first = processor;
    for (const XmlElement& child : object.children("object")) {
      if (is_io(child)) continue;
      const std::size_t found = read_processors(child, processor);
      if (first == kNoPart) first = found;
    }
    for (const XmlElement& child : object.children("object")) {
      if (!is_io(child)) continue;
      for (HwlocIo& io : read_hwloc_io(child)) io_.emplace_back(std::move(io), first);
    }
    return first;
  }

  static bool is_io(const XmlElement& object) {
    const std::string type = object.text("type");
    return type == "Bridge" || type == "PCIDev";
  }

  // Where there are cards for InfiniBand or RoCE, the data takes them and not the others.
  void prefer_fabrics() {
    for (const auto& [io, processor] : io_) fabrics_ |= has_fabric(io);
  }
  static bool has_fabric(const HwlocIo& io) {
    return io.fabric || std::any_of(io.below.begin(), io.below.end(), has_fabric);
  }

  void add_io(const HwlocIo& io, std::size_t parent) {
    if (io.kind == PartKind::nic) return add_card(io, parent);
    if (io.kind == PartKind::gpu) return add_gpu(io, parent);
    const std::string name =
        "pci-" + io.element.text_or("pci_busid", fmt::format("{}", bridges_++));
    machine_.parts.push_back({PartKind::bridge, name, parent, way_up(io)});
    const std::size_t bridge = machine_.parts.size() - 1;
    for (const HwlocIo& below : io.below) add_io(below, bridge);
  }

  void add_gpu(const HwlocIo& io, std::size_t parent) {
    Part part{PartKind::gpu, fmt::format("gpu{}", gpus_++), parent, way_up(io)};
    part.device_kind = !options_.kind.empty() ? options_.kind
                       : io.model.empty()     ? options_.kind_if_unknown
                                              : gpu_kind(io.model);
    if (part.device_kind.empty()) {
      io.element.fail("hwloc doesn't say what this GPU is; `kind` says it (v100, a100, ...)");
    }
    for (const std::uint64_t index : io.indexes) index_[index] = machine_.parts.size();
    machine_.parts.push_back(std::move(part));
  }

  void add_card(const HwlocIo& io, std::size_t parent) {
    if (fabrics_ && !io.fabric) return;
    ++cards_;
    Part part{PartKind::nic, io.name, parent, way_up(io)};
    part.network = options_.network.value_or(BytesPerSecond{});
    part.network_latency = options_.latency.value_or(Seconds{});
    machine_.parts.push_back(std::move(part));
  }

  BytesPerSecond way_up(const HwlocIo& io) {
    if (options_.pcie) return *options_.pcie;
    if (io.speed.value > 0) return nominal_pcie(io.speed);
    ++without_speed_;
    return *nominal_pcie(8, 16);
  }

  void add_cores(const XmlElement& machine) {
    if (!options_.kind.empty()) machine.fail("`kind` says what its GPUs are, but it has none");
    if (cores_.empty()) machine.fail("it has neither GPUs nor cores");
    if (cores_.size() > static_cast<std::size_t>(kCpuDeviceLimit)) {
      machine.fail(fmt::format("it has {} cores; allowed: {}", cores_.size(), kCpuDeviceLimit));
    }
    for (const std::size_t processor : cores_) {
      machine_.parts.push_back({PartKind::core, fmt::format("cpu{}", number_++),
                                processor == kNoPart ? 0 : processor, kCpuCopyBandwidth});
    }
    machine_.notes.push_back(
        fmt::format("there is no GPU: its {} cores are the devices", cores_.size()));
  }

  void add_nvlinks(const XmlElement& topology) {
    HwlocNvLinks found = read_hwloc_nvlinks(topology, machine_.parts, index_);
    machine_.nvlinks = std::move(found.links);
    if (found.strangers > 0) {
      machine_.notes.push_back(
          fmt::format("NVLinks are left out where they end at what is neither GPU, processor nor "
                      "NVSwitch ({})",
                      found.strangers));
    } else if (gpus_ > 1 && machine_.nvlinks.empty()) {
      machine_.notes.push_back(
          "no NVLink is known: hwloc tells them only where it was built with NVML");
    }
  }

  void add_notes() {
    if (without_speed_ > 0) {
      machine_.notes.push_back(
          fmt::format("PCI links of unknown speed ({}) are taken for 16 lanes of generation 3; "
                      "`pcie` says otherwise",
                      without_speed_));
    }
    if (cards_ > 0 && !options_.network) {
      machine_.notes.push_back(fmt::format(
          "network cards are left out ({}): `bandwidth` says how fast each of them is", cards_));
    }
  }

  const MachineOptions& options_;
  Machine machine_;
  std::vector<std::size_t> cores_;  // the processor of each
  std::vector<std::pair<HwlocIo, std::size_t>> io_;
  HwlocIndex index_;
  bool fabrics_ = false;
  int processors_ = 0, bridges_ = 0, gpus_ = 0, cards_ = 0, number_ = 0, without_speed_ = 0;
};

}  // namespace

Machine read_hwloc(const XmlElement& root, const MachineOptions& options) {
  return HwlocReader(options).read(root);
}

}  // namespace strata
