#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/cluster/cpu_cluster.h"
#include "sim/importers/topology/host_topology.h"
#include "sim/importers/topology/machine.h"
#include "sim/importers/topology/nominal.h"

namespace strata {
namespace {

constexpr std::string_view kNvSwitch = "nvswitch";

constexpr Seconds half(Seconds whole) {
  return {whole.value / 2};
}

class Layout {
 public:
  explicit Layout(const Machine& machine) : machine_(machine), children_(machine.parts.size()) {
    const std::vector<Part>& parts = machine.parts;
    holds_.assign(parts.size(), {});
    for (std::size_t i = parts.size(); i-- > 0;) {
      holds_[i].gpus |= parts[i].kind == PartKind::gpu;
      holds_[i].nics |= parts[i].kind == PartKind::nic && parts[i].network.value > 0;
      if (parts[i].parent == kNoPart) continue;
      children_[parts[i].parent].insert(children_[parts[i].parent].begin(), i);
      holds_[parts[i].parent].gpus |= holds_[i].gpus;
      holds_[parts[i].parent].nics |= holds_[i].nics;
    }
  }

  HostTopology lay_out() {
    add_vertices();
    for (std::size_t i = 0; i < machine_.parts.size(); ++i) share_cards(i);
    for (std::size_t i = 0; i < machine_.parts.size(); ++i) add_way_up(i);
    add_processor_links();
    for (const NvLink& link : machine_.nvlinks) add_nvlink(link);
    add_core_links();
    return std::move(topology_);
  }

 private:
  struct Holds {
    bool gpus = false, nics = false;
  };
  const Part& part(std::size_t i) const { return machine_.parts[i]; }

  void add_vertices() {
    std::vector<const Part*> devices;
    for (const Part& part : machine_.parts) {
      if (part.kind == PartKind::gpu || part.kind == PartKind::core) devices.push_back(&part);
    }
    // In the order of their numbers, which is not that of their places in the machine.
    std::stable_sort(devices.begin(), devices.end(), [](const Part* a, const Part* b) {
      return std::tuple(a->name.size(), a->name) < std::tuple(b->name.size(), b->name);
    });
    for (const Part* device : devices) add_device(*device);
    for (std::size_t i = 0; i < machine_.parts.size(); ++i) add_switch(i);
    const auto& nvlinks = machine_.nvlinks;
    const auto to_switch = [](const NvLink& link) { return link.to == kNoPart; };
    if (std::any_of(nvlinks.begin(), nvlinks.end(), to_switch)) {
      topology_.switches.emplace_back(kNvSwitch);
    }
  }

  void add_device(const Part& part) {
    const bool core = part.kind == PartKind::core;
    topology_.devices.push_back({.name = part.name,
                                 .kind = core ? "cpu" : part.device_kind,
                                 .copy_engine = !core,
                                 .forwards = false});
  }

  void add_switch(std::size_t i) {
    const Part& it = part(i);
    if (it.kind == PartKind::gpu || it.kind == PartKind::core) return;
    if (it.kind == PartKind::nic && !holds_[i].nics) return;
    topology_.switches.push_back(it.name);
    if (it.kind != PartKind::nic) return;
    const Seconds latency = it.network_latency.value > 0 ? it.network_latency : kNetworkLatency;
    topology_.ports.push_back({it.name, it.network, half(latency)});
  }

  // Equal ways would be told apart by name, and all GPUs of a bridge would take its first card. So
  // a GPU and its card meet at ports of the bridge, one link nearer than any other card.
  void share_cards(std::size_t bridge) {
    std::vector<std::size_t> with_gpus, with_nics;
    for (const std::size_t child : children_[bridge]) {
      if (holds_[child].gpus && !holds_[child].nics) with_gpus.push_back(child);
      if (holds_[child].nics && !holds_[child].gpus) with_nics.push_back(child);
    }
    if (with_nics.size() < 2 || with_gpus.empty()) return;
    for (const std::size_t child : with_gpus) add_port(child);
    for (const std::size_t child : with_nics) add_port(child);
    for (std::size_t i = 0; i < with_gpus.size(); ++i) {
      join(port_of(with_gpus[i]), port_of(with_nics[i % with_nics.size()]), kNoLimit, {}, "pcie");
    }
  }

  std::string port_of(std::size_t i) const { return part(i).name + "-port"; }

  void add_port(std::size_t i) {
    topology_.switches.push_back(port_of(i));
    join(port_of(i), part(part(i).parent).name, kNoLimit, {}, "pcie");
    ends_[i] = port_of(i);
  }

  // Either end of a way between two GPUs has half of its latency.
  void add_way_up(std::size_t i) {
    const Part& it = part(i);
    if (it.parent == kNoPart || it.kind == PartKind::core) return;
    if (it.kind == PartKind::nic && !holds_[i].nics) return;
    const auto end = ends_.find(i);
    const std::string& above = end == ends_.end() ? part(it.parent).name : end->second;
    join(it.name, above, it.up, it.kind == PartKind::gpu ? half(kPcieLatency) : Seconds{}, "pcie");
  }

  void add_processor_links() {
    for (std::size_t a = 0; a < machine_.parts.size(); ++a) {
      if (part(a).kind != PartKind::processor) continue;
      for (std::size_t b = a + 1; b < machine_.parts.size(); ++b) {
        if (part(b).kind != PartKind::processor) continue;
        join(part(a).name, part(b).name, machine_.socket, {}, "socket");
      }
    }
  }

  void add_nvlink(const NvLink& link) {
    const std::string& gpu = part(link.gpu).name;
    if (link.to == kNoPart) {
      return join(gpu, std::string(kNvSwitch), link.bandwidth, half(kNvLinkLatency), "nvlink");
    }
    const std::string& to = part(link.to).name;
    if (part(link.to).kind == PartKind::processor) {
      return join(gpu, to, link.bandwidth, half(kNvLinkLatency), "nvlink");
    }
    topology_.links.push_back({gpu, to, link.bandwidth, kNvLinkLatency, "", "nvlink"});
  }

  // As those of the clusters cpu:N within a processor; to another one by the link between them.
  void add_core_links() {
    for (std::size_t a = 0; a < machine_.parts.size(); ++a) {
      if (part(a).kind != PartKind::core) continue;
      join(part(a).name, part(part(a).parent).name, part(a).up, half(kCpuCopyLatency), "intra");
      for (const std::size_t b : children_[part(a).parent]) {
        if (b <= a || part(b).kind != PartKind::core) continue;
        join(part(a).name, part(b).name, part(a).up, kCpuCopyLatency, "intra");
      }
    }
  }

  void join(const std::string& a, const std::string& b, BytesPerSecond bandwidth, Seconds latency,
            const char* kind) {
    topology_.links.push_back({a, b, bandwidth, latency, "", kind});
    topology_.links.push_back({b, a, bandwidth, latency, "", kind});
  }

  const Machine& machine_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<Holds> holds_;                 // of each part and what hangs below it
  std::map<std::size_t, std::string> ends_;  // of the ways up that end at a port
  HostTopology topology_;
};

}  // namespace

HostTopology topology_of(const Machine& machine, const std::string& file) {
  HostTopology topology = Layout(machine).lay_out();
  complete(topology, file);
  return topology;
}

}  // namespace strata
