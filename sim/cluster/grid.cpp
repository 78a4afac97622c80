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

/// Every device's links are built from its host's, so that hosts come one after another.
class GridBuilder {
 public:
  GridBuilder(const Grid& grid, ClusterBuilder& builder) : grid_(grid), builder_(builder) {}

  void add() {
    if (!check()) return;
    for (std::int64_t d = 0; d < grid_.hosts * grid_.devices_per_host; ++d) {
      builder_.add_device({device(d), grid_.kind, host(d / grid_.devices_per_host), 1,
                           grid_.copy_engine, grid_.assembles, true, 1, grid_.memory,
                           grid_.memory_reserve});
    }
    if (networked()) builder_.add_switch("core");
    for (std::int64_t h = 0; h < grid_.hosts; ++h) add_intra(h);
    for (std::int64_t h = 0; networked() && h < grid_.hosts; ++h) add_inter(h);
  }

 private:
  bool networked() const { return grid_.hosts > 1 && grid_.inter != InterTopology::none; }
  /// A device that is alone in its host needs no network inside it, and has the NIC to itself.
  bool alone() const { return grid_.devices_per_host == 1; }
  bool nic_per_device() const { return alone() || grid_.inter == InterTopology::nic_per_device; }
  bool switched() const {
    return grid_.intra == IntraTopology::bus || grid_.intra == IntraTopology::pcie;
  }
  bool nic_on_switch() const { return networked() && switched() && !nic_per_device(); }

  static std::string device(std::int64_t d) { return fmt::format("gpu{}", d); }
  static std::string host(std::int64_t h) { return fmt::format("host{}", h); }
  std::string_view switch_name() const {
    return grid_.intra == IntraTopology::pcie ? "bridge" : "switch";
  }
  std::int64_t first(std::int64_t h) const { return h * grid_.devices_per_host; }

  bool refuse(const std::string& message) {
    builder_.errors().add(builder_.where(), message);
    return false;
  }

  bool check() {
    const std::int64_t devices = grid_.devices_per_host;
    if (grid_.hosts > static_cast<std::int64_t>(kDeviceLimit) / devices) {
      return refuse(fmt::format("{} hosts of {} devices are more than {} devices", grid_.hosts,
                                devices, kDeviceLimit));
    }
    if (grid_.intra == IntraTopology::hybrid_cube_mesh && devices != 8 && !alone()) {
      return refuse(fmt::format("topology \"hybrid-cube-mesh\" joins 8 devices, not {}", devices));
    }
    if (grid_.intra == IntraTopology::all_to_all && devices > 256) {
      return refuse(
          fmt::format("topology \"all-to-all\" joins at most 256 devices, not {}", devices));
    }
    if (grid_.hosts > 1 && grid_.inter == InterTopology::none) {
      return refuse(fmt::format("{} hosts need [grid.inter] with another topology than \"none\"",
                                grid_.hosts));
    }
    return !networked() || check_inter();
  }

  /// A path between the devices of one host must have fewer links than the way over the network,
  /// so that no latency, not even one that a what-if sets, sends it there. That way has four links
  /// or, where the NIC hangs on the host's switch, five against three.
  bool check_inter() {
    if (grid_.intra != IntraTopology::ring || grid_.devices_per_host < 8) return true;
    return refuse(
        fmt::format("in a \"ring\" of {} devices the way over the network would have no more "
                    "links than half the ring; allowed: at most 7 devices",
                    grid_.devices_per_host));
  }

  /// Both directions within host h, between vertices named as the host knows them ("switch").
  void join(std::int64_t h, const std::string& a, const std::string& b, Seconds there,
            Seconds back) {
    link(h, a, b, there);
    link(h, b, a, back);
  }
  void link(std::int64_t h, const std::string& from, const std::string& to, Seconds latency) {
    builder_.add_link({vertex(h, from), vertex(h, to), grid_.intra_bandwidth, latency,
                       fmt::format("{}/{}>{}", host(h), from, to), "intra"});
  }
  std::string vertex(std::int64_t h, const std::string& name) const {
    return name == switch_name() ? fmt::format("{}/{}", host(h), name) : name;
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

  /// A device's link to a switch is one resource for what stays in the host and what leaves it, but
  /// their latencies differ: behind it, at the switch's port, the way in has that of [grid.intra]
  /// and the way to the NIC none.
  void add_port(std::int64_t h, const std::string& gpu) {
    const std::string name(switch_name()), sw = vertex(h, name), end = host(h) + "/" + gpu;
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
    if (alone()) return uplink(host(h) + "/" + device(h), device(h), device(h));
    if (nic_on_switch()) {  // from the switch itself no way leads on but into its host
      builder_.add_switch(sw + "-out");
      return uplink(sw, sw + "-out", sw);
    }
    if (!nic_per_device()) return add_nic(h, host(h) + "/nic", first(h), first(h + 1));
    for (std::int64_t d = first(h); d < first(h + 1); ++d) {
      add_nic(h, fmt::format("{}/{}-nic", host(h), device(d)), d, d + 1);
    }
  }

  void uplink(const std::string& name, const std::string& out, const std::string& in) {
    builder_.add_link(
        {out, "core", grid_.inter_bandwidth, grid_.inter_latency, name + ">core", "inter"});
    builder_.add_link({"core", in, grid_.inter_bandwidth, {}, "core>" + name, "inter"});
  }

  /// The NIC of devices begin ... end. It is two vertices, one for each direction: a single one
  /// would be a way from one device of the host to another.
  void add_nic(std::int64_t h, const std::string& nic, std::int64_t begin, std::int64_t end) {
    const std::string out = nic + "-out", in = nic + "-in";
    const BytesPerSecond bandwidth = grid_.device_bandwidth.value_or(grid_.inter_bandwidth);
    builder_.add_switch(out);
    builder_.add_switch(in);
    for (std::int64_t d = begin; d < end; ++d) {
      const std::string gpu = device(d);
      builder_.add_link({gpu, out, bandwidth, {}, fmt::format("{}/{}>nic", host(h), gpu), "inter"});
      builder_.add_link({in, gpu, bandwidth, {}, fmt::format("{}/nic>{}", host(h), gpu), "inter"});
    }
    uplink(nic, out, in);
  }

  const Grid& grid_;
  ClusterBuilder& builder_;
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
