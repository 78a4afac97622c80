#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/importers/topology/machine_readers.h"
#include "sim/importers/topology/nominal.h"

namespace strata {
namespace {

constexpr std::int64_t kSpeedLimit = 100'000'000;  // Mb/s: 100 Tb/s
constexpr std::int64_t kLinksLimit = 1024;

bool is_bridge_class(std::string_view pci_class) {
  return pci_class.starts_with("0x0604");
}
bool is_gpu_class(std::string_view pci_class) {
  return pci_class.starts_with("0x03");
}
bool is_nic_class(std::string_view pci_class) {
  return pci_class.starts_with("0x02");
}

/// Broadcom's switches of generations 4 and 5 show as two levels of bridges, but carry the full
/// bandwidth between all their ports: NCCL takes the lower level away, too.
bool is_inner_level(const XmlElement& bridge, const XmlElement& above) {
  const auto ids = [](const XmlElement& e) {
    return std::pair(e.text_or("vendor", ""), e.text_or("device", ""));
  };
  const auto [vendor, device] = ids(bridge);
  return vendor == "0x1000" && (device == "0xc010" || device == "0xc030") &&
         above.name() == "pci" && ids(above) == ids(bridge);
}

class NcclReader {
 public:
  explicit NcclReader(const MachineOptions& options) : options_(options) {}

  Machine read(const XmlElement& system) {
    if (const std::string version = system.text_or("version", "1"); version != "1") {
      system.fail(fmt::format("version=\"{}\"; allowed: 1", version));
    }
    const std::vector<XmlElement> processors = system.children("cpu");
    if (processors.empty()) system.fail("there is no <cpu>; allowed: one for each NUMA node");
    for (const XmlElement& cpu : processors) read_processor(cpu);
    if (gpus_.empty()) system.fail("there is no <gpu> in any <pci>");
    for (const auto& [element, part] : gpus_) read_nvlinks(element, part);
    check_ends();
    for (const auto& [ends, sum] : nvlinks_) {
      machine_.nvlinks.push_back({ends.first, ends.second, sum});
    }
    return std::move(machine_);
  }

 private:
  void read_processor(const XmlElement& cpu) {
    const auto node = cpu.integer("numaid", -1, 1 << 20);
    const std::size_t part =
        add(cpu, {PartKind::processor, fmt::format("numa{}", std::max<std::int64_t>(node, 0))});
    const BytesPerSecond socket = options_.socket.value_or(
        nominal_socket(cpu.text_or("arch", ""), cpu.text_or("vendor", ""),
                       static_cast<int>(cpu.integer_or("familyid", 0, -1, 1 << 20)),
                       static_cast<int>(cpu.integer_or("modelid", 0, -1, 1 << 20))));
    if (part == 0) machine_.socket = socket;
    machine_.socket = std::min(machine_.socket, socket);
    read_below(cpu, part);
  }

  void read_below(const XmlElement& above, std::size_t parent) {
    for (const XmlElement& element : above.children()) {
      if (element.name() == "pci") read_pci(element, above, parent);
      if (element.name() == "nic")
        read_nic(element, parent, options_.pcie.value_or(*nominal_pcie(8, 16)));
    }
  }

  void read_pci(const XmlElement& pci, const XmlElement& above, std::size_t parent) {
    const std::string id = pci.text("busid");
    const std::string pci_class = pci.text("class");
    const BytesPerSecond up = link_of(pci);
    if (is_gpu_class(pci_class)) return read_gpu(pci, id, parent, up);
    if (is_nic_class(pci_class)) return read_card(pci, parent, up);
    if (!is_bridge_class(pci_class)) return;  // a disk, say
    if (is_inner_level(pci, above)) return read_below(pci, parent);
    read_below(pci, add(pci, {PartKind::bridge, "pci-" + id, parent, up}));
  }

  BytesPerSecond link_of(const XmlElement& pci) const {
    if (options_.pcie) return *options_.pcie;
    const std::string speed = pci.text_or("link_speed", "");
    const auto lanes = static_cast<int>(pci.integer_or("link_width", 16, 0, 64));
    if (speed.empty() || speed.starts_with("Unknown")) return *nominal_pcie(8, lanes ? lanes : 16);
    double rate = 0;
    const auto [end, error] = std::from_chars(speed.data(), speed.data() + speed.size(), rate);
    const auto bandwidth = nominal_pcie(rate, lanes ? lanes : 16);
    if (error == std::errc() &&
        std::string_view(end, speed.data() + speed.size()).starts_with(" GT/s") && bandwidth)
      return *bandwidth;
    pci.fail(fmt::format("link_speed=\"{}\"; allowed: 2.5, 5, 8, 16, 32 or 64 GT/s", speed));
  }

  void read_gpu(const XmlElement& pci, const std::string& id, std::size_t parent,
                BytesPerSecond up) {
    const std::vector<XmlElement> found = pci.children("gpu");
    if (found.empty()) return;  // one that the job did not use
    if (found.size() > 1) found[1].fail("a second GPU in one <pci>");
    const XmlElement& gpu = found.front();
    if (gpu.has("gcn")) gpu.fail("it is one of AMD's, in RCCL's dialect; allowed: NVIDIA's");
    const auto number = gpu.integer("dev", 0, 1 << 20);
    Part part{PartKind::gpu, fmt::format("gpu{}", number), parent, up};
    part.device_kind = kind_of(gpu);
    gpus_.emplace_back(gpu, add(gpu, std::move(part)));
    if (!by_bus_.emplace(id, gpus_.back().second).second) {
      pci.fail(fmt::format("two GPUs have busid=\"{}\"", id));
    }
  }

  std::string kind_of(const XmlElement& gpu) {
    const auto capability = static_cast<int>(gpu.integer("sm", 10, 999));
    if (!options_.kind.empty()) return options_.kind;
    const GpuGeneration* found = find_gpu_generation(capability);
    if (!found) {
      gpu.fail(fmt::format("sm=\"{}\" doesn't tell the kind of GPU; `kind` says it", capability));
    }
    if (assumed_.insert(capability).second) {
      machine_.notes.push_back(fmt::format(
          "GPUs of compute capability {}.{} are taken for kind '{}'; `kind` says otherwise",
          capability / 10, capability % 10, found->kind));
    }
    return std::string(found->kind);
  }

  void read_card(const XmlElement& pci, std::size_t parent, BytesPerSecond up) {
    for (const XmlElement& nic : pci.children("nic")) read_nic(nic, parent, up);
  }

  // The ports of a card share its PCI link, so they count as one port.
  void read_nic(const XmlElement& nic, std::size_t parent, BytesPerSecond up) {
    Part part{PartKind::nic, "", parent, up};
    for (const XmlElement& net : nic.children("net")) {
      const auto speed = net.integer("speed", 0, kSpeedLimit);
      const double latency = net.number_or("latency", 0, 0);
      if (net.integer_or("keep", 1, 0, 1) == 0 || speed == 0) continue;
      if (part.name.empty()) part.name = net.text("name");
      part.network.value += static_cast<double>(speed) * 1e6 / 8;
      part.network_latency = std::max(part.network_latency, Seconds{latency * 1e-6});
    }
    if (part.name.empty()) return;
    part.network = options_.network.value_or(part.network);
    part.network_latency = options_.latency.value_or(part.network_latency);
    add(nic, std::move(part));
  }

  void read_nvlinks(const XmlElement& gpu, std::size_t part) {
    const int capability = static_cast<int>(gpu.integer("sm", 10, 999));
    for (const XmlElement& link : gpu.children("nvlink")) {
      const auto one = options_.nvlink ? options_.nvlink : nominal_nvlink(capability);
      if (!one) link.fail(fmt::format("GPUs of sm=\"{}\" have no NVLink", capability));
      const auto count = static_cast<double>(link.integer("count", 1, kLinksLimit));
      nvlinks_[{part, target_of(link, part)}].value += one->value * count;
    }
    for (const XmlElement& link : gpu.children("c2c")) {
      const auto count = static_cast<double>(link.integer("count", 1, kLinksLimit));
      const auto each = static_cast<double>(link.integer("bw", 1, kSpeedLimit)) * 1e6;
      nvlinks_[{part, processor_of(part)}].value += each * count;
    }
  }

  std::size_t target_of(const XmlElement& link, std::size_t gpu) const {
    const std::string pci_class = link.text("tclass");
    const std::string id = link.text("target");
    if (pci_class.starts_with("0x068001")) return processor_of(gpu);
    if (pci_class.starts_with("0x0680")) return kNoPart;
    if (!is_gpu_class(pci_class)) {
      link.fail(
          fmt::format("tclass=\"{}\"; allowed: 0x03... (a GPU), 0x068000 (an NVSwitch), "
                      "0x068001 (a processor)",
                      pci_class));
    }
    const auto found = by_bus_.find(id);
    if (found == by_bus_.end()) link.fail(fmt::format("no GPU has busid=\"{}\"", id));
    if (found->second == gpu) link.fail("it leads back to its own GPU");
    return found->second;
  }

  std::size_t processor_of(std::size_t part) const {
    while (machine_.parts[part].parent != kNoPart) part = machine_.parts[part].parent;
    return part;
  }

  // A link has two ends: a dump in which they differ was cut or mended by hand.
  void check_ends() const {
    for (const auto& [element, part] : gpus_) {
      for (auto at = nvlinks_.lower_bound({part, 0}); at != nvlinks_.end(); ++at) {
        const auto [gpu, to] = at->first;
        if (gpu != part) break;
        if (to == kNoPart || machine_.parts[to].kind != PartKind::gpu) continue;
        const auto back = nvlinks_.find({to, gpu});
        if (back != nvlinks_.end() && back->second == at->second) continue;
        element.fail(
            fmt::format("its NVLinks to {0} are not those of {0} to it", machine_.parts[to].name));
      }
    }
  }

  std::size_t add(const XmlElement& element, Part part) {
    if (!names_.insert(part.name).second) {
      element.fail(fmt::format("'{}' is there twice", part.name));
    }
    machine_.parts.push_back(std::move(part));
    return machine_.parts.size() - 1;
  }

  const MachineOptions& options_;
  Machine machine_;
  std::vector<std::pair<XmlElement, std::size_t>> gpus_;
  std::map<std::string, std::size_t> by_bus_;
  std::map<std::pair<std::size_t, std::size_t>, BytesPerSecond> nvlinks_;  // by GPU and target
  std::set<std::string> names_;
  std::set<int> assumed_;
};

}  // namespace

Machine read_nccl(const XmlElement& root, const MachineOptions& options) {
  return NcclReader(options).read(root);
}

}  // namespace strata
