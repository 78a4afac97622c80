#include "sim/cluster/grid.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace strata {
namespace {

constexpr std::array<std::pair<std::string_view, IntraTopology>, 5> kIntra = {
    {{"switch", IntraTopology::bus},
     {"pcie", IntraTopology::pcie},
     {"all-to-all", IntraTopology::all_to_all},
     {"ring", IntraTopology::ring},
     {"hybrid-cube-mesh", IntraTopology::hybrid_cube_mesh}}};
constexpr std::array<std::pair<std::string_view, InterTopology>, 3> kInter = {
    {{"none", InterTopology::none},
     {"nic-per-host", InterTopology::nic_per_host},
     {"nic-per-device", InterTopology::nic_per_device}}};

template <class Topology, class Names>
std::optional<Topology> find_in(const Names& names, std::string_view wanted) {
  for (const auto& [name, value] : names) {
    if (name == wanted) return value;
  }
  return std::nullopt;
}

template <class Names>
std::string list(const Names& names) {
  std::string text;
  for (const auto& [name, value] : names) {
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", name);
  }
  return text;
}

/// Every device's links are built from its domain's, so that domains come one after another.
class GridBuilder {
 public:
  GridBuilder(const Grid& grid, ClusterBuilder& builder)
      : grid_(grid), builder_(builder), levels_(grid.switches) {
    if (levels_.empty()) levels_.push_back({.name = "core", .count = grid.domains});
  }

  void add() {
    if (!check()) return;
    for (std::int64_t d = 0; d < grid_.domains * grid_.devices_per_domain; ++d) {
      builder_.add_device({device(d), grid_.kind, host_of(d), 1, grid_.copy_engine, grid_.assembles,
                           forwards(), 1, grid_.memory, grid_.memory_reserve,
                           grid_.devices_per_host ? domain(d / grid_.devices_per_domain) : ""});
    }
    if (networked()) add_switches();
    for (std::int64_t h = 0; h < grid_.domains; ++h) add_intra(h);
    for (std::int64_t h = 0; networked() && h < grid_.domains; ++h) add_inter(h);
  }

 private:
  /// Where cards of one number have a switch for themselves, the way over a neighbour and its card
  /// is as long as that over the switches above, which is the one that is modelled.
  bool forwards() const {
    return !levels_.front().rails || (!switched() && grid_.intra != IntraTopology::all_to_all);
  }
  bool networked() const { return grid_.domains > 1 && grid_.inter != InterTopology::none; }
  /// A device that is alone in its domain needs no network inside it, and has the NIC to itself.
  bool alone() const { return grid_.devices_per_domain == 1; }
  bool nic_per_device() const { return alone() || grid_.inter == InterTopology::nic_per_device; }
  bool switched() const {
    return grid_.intra == IntraTopology::bus || grid_.intra == IntraTopology::pcie;
  }
  bool nic_on_switch() const { return networked() && switched() && !nic_per_device(); }

  static std::string device(std::int64_t d) { return fmt::format("gpu{}", d); }
  std::string domain(std::int64_t h) const { return fmt::format("{}{}", grid_.domain_name, h); }
  /// A domain's last host may have fewer devices than the others.
  std::string host_of(std::int64_t d) const {
    if (!grid_.devices_per_host) return domain(d / grid_.devices_per_domain);
    const std::int64_t each = *grid_.devices_per_host, size = grid_.devices_per_domain;
    const std::int64_t hosts = (size + each - 1) / each;
    return fmt::format("{}{}", grid_.host_name, d / size * hosts + d % size / each);
  }
  std::string_view switch_name() const {
    return grid_.intra == IntraTopology::pcie ? "bridge" : "switch";
  }
  std::int64_t first(std::int64_t h) const { return h * grid_.devices_per_domain; }

  bool refuse(const std::string& message) {
    builder_.errors().add(builder_.where(), message);
    return false;
  }

  bool check() {
    const std::int64_t devices = grid_.devices_per_domain;
    if (grid_.domains > static_cast<std::int64_t>(kDeviceLimit) / devices) {
      return refuse(fmt::format("{} {}s of {} devices are more than {} devices", grid_.domains,
                                grid_.domain_name, devices, kDeviceLimit));
    }
    if (grid_.intra == IntraTopology::hybrid_cube_mesh && devices != 8 && !alone()) {
      return refuse(fmt::format("topology \"hybrid-cube-mesh\" joins 8 devices, not {}", devices));
    }
    if (grid_.intra == IntraTopology::all_to_all && devices > 256) {
      return refuse(
          fmt::format("topology \"all-to-all\" joins at most 256 devices, not {}", devices));
    }
    if (grid_.domains > 1 && grid_.inter == InterTopology::none) {
      return refuse(fmt::format("{} {}s need [grid.inter] with another topology than \"none\"",
                                grid_.domains, grid_.domain_name));
    }
    return !networked() || check_inter();
  }

  /// A path between the devices of one domain must have fewer links than the way over the network,
  /// so that no latency, not even one that a what-if sets, sends it there. That way has four links
  /// or, where the NIC hangs on the domain's switch, five against three.
  bool check_inter() {
    if (levels_.front().rails && (!nic_per_device() || levels_.size() < 2)) {
      return refuse(
          fmt::format("rails of level \"{}\" need a card for each device and a level "
                      "above, which joins them",
                      levels_.front().name));
    }
    if (grid_.intra != IntraTopology::ring || grid_.devices_per_domain < 8) return true;
    return refuse(
        fmt::format("in a \"ring\" of {} devices the way over the network would have no more "
                    "links than half the ring; allowed: at most 7 devices",
                    grid_.devices_per_domain));
  }

  /// Both directions within domain h, between vertices named as the domain knows them ("switch").
  void join(std::int64_t h, const std::string& a, const std::string& b, Seconds there,
            Seconds back) {
    link(h, a, b, there);
    link(h, b, a, back);
  }
  void link(std::int64_t h, const std::string& from, const std::string& to, Seconds latency) {
    builder_.add_link({vertex(h, from), vertex(h, to), grid_.intra_bandwidth, latency,
                       fmt::format("{}/{}>{}", domain(h), from, to), "intra"});
  }
  std::string vertex(std::int64_t h, const std::string& name) const {
    return name == switch_name() ? fmt::format("{}/{}", domain(h), name) : name;
  }

  void add_intra(std::int64_t h) {
    if (alone()) return;
    const std::int64_t begin = first(h), end = first(h + 1);
    switch (grid_.intra) {
      case IntraTopology::bus:
      case IntraTopology::pcie:
        return add_switch(h);
      case IntraTopology::all_to_all:
        for (std::int64_t a = begin; a < end; ++a) {
          for (std::int64_t b = a + 1; b < end; ++b) neighbours(h, a, b);
        }
        return;
      case IntraTopology::ring:
        for (std::int64_t a = begin; a + 1 < end; ++a) neighbours(h, a, a + 1);
        if (end - begin > 2) neighbours(h, end - 1, begin);
        return;
      case IntraTopology::hybrid_cube_mesh:
        return add_cube_mesh(h);
    }
  }

  void neighbours(std::int64_t h, std::int64_t a, std::int64_t b) {
    join(h, device(a), device(b), grid_.intra_latency, grid_.intra_latency);
  }

  /// The way up carries the latency of the whole path, so that setting it (what_if.h) sets the
  /// path's. Where the way to the NIC begins with it too, add_port stands in.
  void add_switch(std::int64_t h) {
    const std::string name(switch_name());
    builder_.add_switch(vertex(h, name));
    for (std::int64_t d = first(h); d < first(h + 1); ++d) {
      if (nic_on_switch()) {
        add_port(h, device(d));
        link(h, name, device(d), {});
      } else {
        join(h, device(d), name, grid_.intra_latency, {});
      }
    }
  }

  /// A device's link to a switch is one resource for what stays in the domain and what leaves it,
  /// but their latencies differ: behind it, at the switch's port, the way in has that of
  /// [grid.intra] and the way to the NIC none.
  void add_port(std::int64_t h, const std::string& gpu) {
    const std::string name(switch_name()), sw = vertex(h, name), end = domain(h) + "/" + gpu;
    const std::string port = end + "-port";
    builder_.add_switch(port);
    builder_.add_link({gpu, port, grid_.intra_bandwidth, {}, end + ">" + name, "intra"});
    builder_.add_link({port, sw, kNoLimit, grid_.intra_latency, port + ">" + name, "intra"});
    builder_.add_link({port, sw + "-out", kNoLimit, {}, port + ">nic", "inter"});
  }

  /// Two fully joined quads, and an edge between the devices that stand alike in them: the four
  /// NVLinks of each of the DGX-1's eight P100.
  void add_cube_mesh(std::int64_t h) {
    for (std::int64_t quad = first(h); quad < first(h + 1); quad += 4) {
      for (std::int64_t a = quad; a < quad + 4; ++a) {
        for (std::int64_t b = a + 1; b < quad + 4; ++b) neighbours(h, a, b);
      }
    }
    for (std::int64_t a = first(h); a < first(h) + 4; ++a) neighbours(h, a, a + 4);
  }

  void add_inter(std::int64_t h) {
    const std::string sw = vertex(h, std::string(switch_name()));
    const std::string outside = switch_of(h, 0);
    if (alone()) return uplink(domain(h) + "/" + device(h), device(h), device(h), outside);
    if (nic_on_switch()) {  // from the switch itself no way leads on but into its domain
      builder_.add_switch(sw + "-out");
      return uplink(sw, sw + "-out", sw, outside);
    }
    if (!nic_per_device()) return add_nic(h, domain(h) + "/nic", first(h), first(h + 1));
    for (std::int64_t d = first(h); d < first(h + 1); ++d) {
      add_nic(h, fmt::format("{}/{}-nic", domain(h), device(d)), d, d + 1);
    }
  }

  /// Of a card, to the switch `outside`.
  void uplink(const std::string& name, const std::string& out, const std::string& in,
              const std::string& outside) {
    builder_.add_link({out, outside, grid_.inter_bandwidth, grid_.inter_latency,
                       fmt::format("{}>{}", name, outside), "inter"});
    builder_.add_link(
        {outside, in, grid_.inter_bandwidth, {}, fmt::format("{}>{}", outside, name), "inter"});
  }

  /// The NIC of devices begin ... end. It is two vertices, one for each direction: a single one
  /// would be a way from one device of the domain to another.
  void add_nic(std::int64_t h, const std::string& nic, std::int64_t begin, std::int64_t end) {
    const std::string out = nic + "-out", in = nic + "-in";
    const BytesPerSecond bandwidth = grid_.device_bandwidth.value_or(grid_.inter_bandwidth);
    builder_.add_switch(out);
    builder_.add_switch(in);
    for (std::int64_t d = begin; d < end; ++d) {
      const std::string gpu = device(d);
      builder_.add_link(
          {gpu, out, bandwidth, {}, fmt::format("{}/{}>nic", domain(h), gpu), "inter"});
      builder_.add_link(
          {in, gpu, bandwidth, {}, fmt::format("{}/nic>{}", domain(h), gpu), "inter"});
    }
    uplink(nic, out, in, switch_of(h, begin - first(h)));
  }

  std::int64_t rails(std::size_t level) const {
    return levels_[level].rails ? grid_.devices_per_domain : 1;
  }
  /// The i-th switch of a level, or that of a rail.
  std::string switch_name(std::size_t level, std::int64_t i, std::int64_t rail) const {
    const bool top = level + 1 == levels_.size();
    const std::string name =
        top ? levels_[level].name : fmt::format("{}{}", levels_[level].name, i);
    return levels_[level].rails ? fmt::format("{}-rail{}", name, rail) : name;
  }
  /// That which the card of a device of domain h leads to.
  std::string switch_of(std::int64_t h, std::int64_t number) const {
    return switch_name(0, h / levels_.front().count, number);
  }

  void add_switches() {
    std::int64_t below = grid_.domains;
    double cards = static_cast<double>(nic_per_device() ? grid_.devices_per_domain : 1);
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      const std::int64_t count = below / levels_[level].count;
      for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t rail = 0; rail < rails(level); ++rail) {
          builder_.add_switch(switch_name(level, i, rail));
        }
      }
      if (level > 0) join_below(level, below, cards / static_cast<double>(rails(level - 1)));
      cards *= static_cast<double>(levels_[level].count);
      below = count;
    }
  }

  /// The links from the switches below a level. `cards`: how many each of these has below it.
  void join_below(std::size_t level, std::int64_t below, double cards) {
    const SwitchLevel& to = levels_[level];
    const BytesPerSecond bandwidth =
        to.bandwidth.value_or(grid_.inter_bandwidth * (cards / to.oversubscription));
    for (std::int64_t i = 0; i < below; ++i) {
      const std::string above = switch_name(level, i / to.count, 0);
      for (std::int64_t rail = 0; rail < rails(level - 1); ++rail) {
        const std::string from = switch_name(level - 1, i, rail);
        builder_.add_link(
            {from, above, bandwidth, to.latency, fmt::format("{}>{}", from, above), "uplink"});
        builder_.add_link(
            {above, from, bandwidth, {}, fmt::format("{}>{}", above, from), "uplink"});
      }
    }
  }

  const Grid& grid_;
  ClusterBuilder& builder_;
  std::vector<SwitchLevel> levels_;  // one at least
};

}  // namespace

std::optional<IntraTopology> find_intra_topology(std::string_view name) {
  return find_in<IntraTopology>(kIntra, name);
}
std::optional<InterTopology> find_inter_topology(std::string_view name) {
  return find_in<InterTopology>(kInter, name);
}
std::string allowed_intra_topologies() {
  return list(kIntra);
}
std::string allowed_inter_topologies() {
  return list(kInter);
}

void add_grid(const Grid& grid, ClusterBuilder& builder) {
  GridBuilder(grid, builder).add();
}

}  // namespace strata
