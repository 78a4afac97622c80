#include "sim/cluster/grid.h"

#include <gtest/gtest.h>

#include "tests/sim/cluster/drawing.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

Grid grid_of(std::int64_t hosts, std::int64_t devices, IntraTopology intra,
             InterTopology inter = InterTopology::none) {
  return {.domains = hosts,
          .devices_per_domain = devices,
          .kind = "p100",
          .intra = intra,
          .intra_bandwidth = {20e9},
          .intra_latency = {1e-6},
          .inter = inter,
          .inter_bandwidth = {10e9},
          .inter_latency = {5e-6},
          .device_bandwidth = std::nullopt};
}

Cluster build(const Grid& grid) {
  ClusterBuilder builder("grid");
  add_grid(grid, builder);
  return std::move(builder).build();
}

std::string build_error(const Grid& grid) {
  return said([&] { build(grid); });
}

double microseconds(const Cluster& cluster, std::size_t from, std::size_t to) {
  return cluster.latency(DeviceId(from), DeviceId(to)).value * 1e6;
}

TEST(Grid, NumbersDevicesThroughTheHosts) {
  const Cluster cluster =
      build(grid_of(2, 2, IntraTopology::all_to_all, InterTopology::nic_per_host));
  ASSERT_EQ(cluster.device_count(), 4U);
  EXPECT_EQ(cluster.devices()[2], (Device{"gpu2", "p100", "host1", 1}));
}

// A port stands between a device's link and the switch, so that only what stays in the host pays
// the latency of [grid.intra]; both share the link.
TEST(Grid, SwitchInsideAndOneNicAHost) {
  const Cluster cluster = build(grid_of(2, 2, IntraTopology::bus, InterTopology::nic_per_host));
  const auto host = [](int h) {
    std::string lines;
    for (int d = 2 * h; d < 2 * h + 2; ++d) {
      lines += fmt::format(
          "host{0}/gpu{1}>switch: gpu{1} -> host{0}/gpu{1}-port, 20 GB/s, 0 us, intra\n"
          "host{0}/gpu{1}-port>switch: host{0}/gpu{1}-port -> host{0}/switch, 1e+06 GB/s, 1 us, "
          "intra\n"
          "host{0}/gpu{1}-port>nic: host{0}/gpu{1}-port -> host{0}/switch-out, 1e+06 GB/s, 0 us, "
          "inter\n"
          "host{0}/switch>gpu{1}: host{0}/switch -> gpu{1}, 20 GB/s, 0 us, intra\n",
          h, d);
    }
    return lines;
  };
  EXPECT_EQ(link_lines(cluster),
            host(0) + host(1) +
                "host0/switch>core: host0/switch-out -> core, 10 GB/s, 5 us, inter\n"
                "core>host0/switch: core -> host0/switch, 10 GB/s, 0 us, inter\n"
                "host1/switch>core: host1/switch-out -> core, 10 GB/s, 5 us, inter\n"
                "core>host1/switch: core -> host1/switch, 10 GB/s, 0 us, inter\n");
  EXPECT_EQ(route_names(cluster, 0, 1),
            "host0/gpu0>switch host0/gpu0-port>switch host0/switch>gpu1");
  EXPECT_EQ(route_names(cluster, 0, 3),
            "host0/gpu0>switch host0/gpu0-port>nic host0/switch>core core>host1/switch "
            "host1/switch>gpu3");
  EXPECT_DOUBLE_EQ(microseconds(cluster, 0, 1), 1);
  EXPECT_DOUBLE_EQ(microseconds(cluster, 0, 3), 5);
}

TEST(Grid, SwitchOfOneHostNeedsNoPorts) {
  const Cluster cluster = build(grid_of(1, 2, IntraTopology::bus));
  EXPECT_EQ(link_lines(cluster),
            "host0/gpu0>switch: gpu0 -> host0/switch, 20 GB/s, 1 us, intra\n"
            "host0/switch>gpu0: host0/switch -> gpu0, 20 GB/s, 0 us, intra\n"
            "host0/gpu1>switch: gpu1 -> host0/switch, 20 GB/s, 1 us, intra\n"
            "host0/switch>gpu1: host0/switch -> gpu1, 20 GB/s, 0 us, intra\n");
}

TEST(Grid, AllToAllInsideAndOneNicAHost) {
  Grid grid = grid_of(2, 2, IntraTopology::all_to_all, InterTopology::nic_per_host);
  grid.device_bandwidth = BytesPerSecond{8e9};
  const Cluster cluster = build(grid);
  EXPECT_EQ(link_lines(cluster).substr(0, 442),
            "host0/gpu0>gpu1: gpu0 -> gpu1, 20 GB/s, 1 us, intra\n"
            "host0/gpu1>gpu0: gpu1 -> gpu0, 20 GB/s, 1 us, intra\n"
            "host1/gpu2>gpu3: gpu2 -> gpu3, 20 GB/s, 1 us, intra\n"
            "host1/gpu3>gpu2: gpu3 -> gpu2, 20 GB/s, 1 us, intra\n"
            "host0/gpu0>nic: gpu0 -> host0/nic-out, 8 GB/s, 0 us, inter\n"
            "host0/nic>gpu0: host0/nic-in -> gpu0, 8 GB/s, 0 us, inter\n"
            "host0/gpu1>nic: gpu1 -> host0/nic-out, 8 GB/s, 0 us, inter\n"
            "host0/nic>gpu1: host0/nic-in -> gpu1, 8 GB/s, 0 us, inter\n")
      << link_lines(cluster);
  EXPECT_EQ(route_names(cluster, 1, 2),
            "host0/gpu1>nic host0/nic>core core>host1/nic host1/nic>gpu2");
  EXPECT_DOUBLE_EQ(microseconds(cluster, 1, 2), 5);
}

TEST(Grid, ANicForEachDevice) {
  Grid grid = grid_of(2, 2, IntraTopology::bus, InterTopology::nic_per_device);
  grid.device_bandwidth = BytesPerSecond{16e9};
  const Cluster cluster = build(grid);
  EXPECT_EQ(route_names(cluster, 0, 1), "host0/gpu0>switch host0/switch>gpu1");
  EXPECT_EQ(route_names(cluster, 0, 3),
            "host0/gpu0>nic host0/gpu0-nic>core core>host1/gpu3-nic host1/nic>gpu3");
  EXPECT_DOUBLE_EQ(microseconds(cluster, 0, 3), 5);
  EXPECT_EQ(cluster[cluster.find_link("host0/gpu0>nic")].bandwidth.value, 16e9);
  EXPECT_EQ(cluster[cluster.find_link("host0/gpu0-nic>core")].bandwidth.value, 10e9);
}

TEST(Grid, LoneDevicesHaveTheNicToThemselves) {
  for (const auto inter : {InterTopology::nic_per_host, InterTopology::nic_per_device}) {
    const Cluster cluster = build(grid_of(3, 1, IntraTopology::hybrid_cube_mesh, inter));
    EXPECT_EQ(cluster.links().size(), 6U);
    EXPECT_EQ(route_names(cluster, 0, 2), "host0/gpu0>core core>host2/gpu2");
  }
}

TEST(Grid, Ring) {
  const Cluster four = build(grid_of(1, 4, IntraTopology::ring));
  EXPECT_EQ(four.links().size(), 8U);
  EXPECT_EQ(route_names(four, 3, 0), "host0/gpu3>gpu0");
  EXPECT_EQ(route_names(four, 0, 2), "host0/gpu0>gpu1 host0/gpu1>gpu2");
  EXPECT_EQ(build(grid_of(1, 2, IntraTopology::ring)).links().size(), 2U);
}

// Every GPU of a DGX-1 has four NVLinks, and no two are more than two links apart.
TEST(Grid, HybridCubeMesh) {
  const Cluster cluster = build(grid_of(1, 8, IntraTopology::hybrid_cube_mesh));
  ASSERT_EQ(cluster.links().size(), 32U);
  std::vector<int> out(8, 0);
  for (const Link& link : cluster.links()) ++out[link.from];
  EXPECT_EQ(out, std::vector<int>(8, 4));
  EXPECT_EQ(route_names(cluster, 2, 6), "host0/gpu2>gpu6");
  EXPECT_EQ(route_names(cluster, 0, 5), "host0/gpu0>gpu1 host0/gpu1>gpu5");
  for (std::size_t a = 0; a < 8; ++a) {
    for (std::size_t b = 0; b < 8; ++b) {
      EXPECT_LE(cluster.route(DeviceId(a), DeviceId(b)).size(), 2U);
    }
  }
}

TEST(Grid, RefusesWhatCannotBeBuilt) {
  EXPECT_EQ(build_error(grid_of(4097, 4, IntraTopology::bus)).substr(0, 72),
            "cluster grid: 4097 hosts of 4 devices are more than 16384 devices\ncluste");
  const auto first_line = [](const Grid& grid) {
    const std::string error = build_error(grid);
    return error.substr(0, error.find('\n'));
  };
  EXPECT_EQ(first_line(grid_of(1, 4, IntraTopology::hybrid_cube_mesh)),
            "cluster grid: topology \"hybrid-cube-mesh\" joins 8 devices, not 4");
  EXPECT_EQ(first_line(grid_of(1, 257, IntraTopology::all_to_all)),
            "cluster grid: topology \"all-to-all\" joins at most 256 devices, not 257");
  EXPECT_EQ(first_line(grid_of(2, 4, IntraTopology::bus)),
            "cluster grid: 2 hosts need [grid.inter] with another topology than \"none\"");
  for (const auto inter : {InterTopology::nic_per_host, InterTopology::nic_per_device}) {
    EXPECT_EQ(
        first_line(grid_of(2, 8, IntraTopology::ring, inter)),
        "cluster grid: in a \"ring\" of 8 devices the way over the network would have no more "
        "links than half the ring; allowed: at most 7 devices");
  }
}

TEST(Grid, SixteenThousandDevicesAreAllowed) {
  const Cluster cluster =
      build(grid_of(2048, 8, IntraTopology::bus, InterTopology::nic_per_device));
  EXPECT_EQ(cluster.device_count(), 16384U);
  EXPECT_EQ(route_names(cluster, 0, 16383),
            "host0/gpu0>nic host0/gpu0-nic>core core>host2047/gpu16383-nic host2047/nic>gpu16383");
}

}  // namespace
}  // namespace strata
