// Rings over the links that devices have to each other, and what sums over them take.

#include "sim/plan/mesh_rings.h"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "random_case.h"
#include "sim/cluster/cluster_file.h"
#include "sim/cluster/presets.h"
#include "sim/plan/collective.h"

namespace strata {
namespace {

struct Wire {
  int a, b, links;
};
// The NVLinks of a DGX-1 with eight V100: six of each, of 25 GB/s each way ("NVIDIA DGX-1 With
// Tesla V100 System Architecture", WP-08437, figure 4).
constexpr Wire kDgx1[] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1},
                          {1, 5, 2}, {2, 3, 2}, {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1},
                          {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};

// `in_halves`: each wire is two, with a switch between them.
Cluster mesh(std::size_t devices, std::span<const Wire> wires, bool in_halves = false) {
  std::string text = "name = 'mesh'\n";
  for (std::size_t i = 0; i < devices; ++i) {
    text += fmt::format("[[device]]\nname = 'g{}'\nkind = 'v100'\nhost = 'h'\n", i);
  }
  const auto add = [&](const std::string& from, const std::string& to, int links) {
    text += fmt::format(
        "[[link]]\nfrom = '{}'\nto = '{}'\nduplex = true\nbandwidth = '{} GB/s'\nlatency = '0 "
        "us'\n",
        from, to, 25 * links);
  };
  for (const auto& [a, b, links] : wires) {
    const std::string from = fmt::format("g{}", a), to = fmt::format("g{}", b);
    if (!in_halves) {
      add(from, to, links);
      continue;
    }
    const std::string middle = fmt::format("m{}{}", a, b);
    text += fmt::format("[[switch]]\nname = '{}'\n", middle);
    add(from, middle, links);
    add(middle, to, links);
  }
  return parse_cluster(text, "mesh.toml");
}

std::vector<MeshRing> rings_of(const Cluster& cluster) {
  std::vector<DeviceId> devices;
  for (std::size_t i = 0; i < cluster.device_count(); ++i) devices.push_back(DeviceId(i));
  return mesh_rings(cluster, DomainRoutes(cluster), devices);
}

std::vector<double> parts(const Cluster& cluster) {
  std::vector<double> parts;
  for (const MeshRing& ring : rings_of(cluster)) {
    EXPECT_EQ(std::set<DeviceId>(ring.order.begin(), ring.order.end()).size(),
              cluster.device_count());
    parts.push_back(ring.part);
  }
  return parts;
}

TEST(MeshRings, GoBothWaysOverTheDoubleLinksOfADgx1AndOverTheSingleOnes) {
  for (const bool in_halves : {false, true}) {
    const std::vector<double> found = parts(mesh(8, kDgx1, in_halves));
    ASSERT_EQ(found.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(found[i], i < 2 ? 1.0 / 3 : 1.0 / 6);
  }
}

TEST(MeshRings, OfFourDevicesWithALinkBetweenEachTwoAreTwo) {
  EXPECT_EQ(parts(preset_cluster("p100-1x4")), (std::vector{0.5, 0.5}));
}

// Of twelve devices with a link between each two: those of eleven are faster, but no ring of these
// visits all.
TEST(MeshRings, FasterLinksTakeNoneAway) {
  const auto rings = [](int fast) {
    std::vector<Wire> wires;
    for (int a = 0; a < 12; ++a) {
      for (int b = a + 1; b < 12; ++b) wires.push_back({a, b, b < fast ? 2 : 1});
    }
    return rings_of(mesh(12, wires)).size();
  };
  EXPECT_GE(rings(0), 8U);
  EXPECT_GE(rings(11), rings(0) / 2);
}

TEST(MeshRings, AreNoneOverASwitch) {
  EXPECT_TRUE(rings_of(testing::star(8)).empty());
  EXPECT_TRUE(rings_of(preset_cluster("h100-1x8")).empty());
  EXPECT_TRUE(rings_of(preset_cluster("k80-1x4")).empty());
}

TEST(MeshRings, AreNoneWhereNoRingVisitsAll) {
  constexpr Wire kChain[] = {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}};
  EXPECT_TRUE(rings_of(mesh(4, kChain)).empty());
}

// What nccl-tests call the bus bandwidth: 2 (n - 1) / n of the bytes, by the time of an all-reduce
// without its latency.
double bus_bandwidth(const Cluster& cluster) {
  std::vector<DeviceId> devices;
  for (std::size_t i = 0; i < cluster.device_count(); ++i) devices.push_back(DeviceId(i));
  const auto n = static_cast<double>(devices.size());
  double seconds = 0;
  for (const CollectivePhase& phase : collective_phases(SyncAlgorithm::ring, cluster, devices)) {
    double slowest = 0;
    for (const LinkLoad& load : phase.loads) {
      slowest = std::max(slowest, load.weight / cluster[load.link].bandwidth.value);
    }
    seconds += phase.bytes_per_byte * slowest;
  }
  return 2 * (n - 1) / n / seconds;
}

// A switch with a NIC for each device: its links in one host, all NICs between two, less what the
// eighth of the hops that leaves a host spares the links inside.
TEST(BusBandwidth, OfANicForEachDevice) {
  EXPECT_DOUBLE_EQ(bus_bandwidth(preset_cluster("a100-1x8")), 300e9);
  EXPECT_NEAR(bus_bandwidth(preset_cluster("a100-2x8")), 8 * 25e9, 1);
  EXPECT_NEAR(bus_bandwidth(preset_cluster("h100-2x8")), 8 * 50e9, 1);
}

// A NIC for the host: its bandwidth.
TEST(BusBandwidth, OfOneNicAHost) {
  EXPECT_DOUBLE_EQ(bus_bandwidth(preset_cluster("p100-2x4")), 12.5e9);
}

// A mesh: what a device's links in rings carry together; then the NICs that hosts share.
TEST(BusBandwidth, OfNvlinkMeshes) {
  EXPECT_DOUBLE_EQ(bus_bandwidth(mesh(8, kDgx1)), 150e9);
  EXPECT_DOUBLE_EQ(bus_bandwidth(preset_cluster("p100-1x4")), 40e9);
  EXPECT_DOUBLE_EQ(bus_bandwidth(preset_cluster("dgx1-p100")), 80e9);
  EXPECT_NEAR(bus_bandwidth(preset_cluster("dgx1-p100-2")), 4 * 12.5e9, 1);
}

// PCIe: a device's way to its switch, which the ring takes once each way.
TEST(BusBandwidth, OfPcie) {
  const Cluster cluster = preset_cluster("k80-1x4");
  double least = kNoLimit.value;
  for (const Link& link : cluster.links()) least = std::min(least, link.bandwidth.value);
  EXPECT_DOUBLE_EQ(bus_bandwidth(cluster), least);
}

}  // namespace
}  // namespace strata
