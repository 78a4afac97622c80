#include "sim/plan/collective.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "random_case.h"
#include "sim/cluster/cluster_file.h"
#include "sim/cluster/presets.h"
#include "sim/cluster/what_if.h"
#include "sim/plan/ring_order.h"
#include "sim/plan/sync_costs.h"

namespace strata {
namespace {

std::vector<DeviceId> all(const Cluster& cluster) {
  std::vector<DeviceId> devices;
  for (std::size_t i = 0; i < cluster.device_count(); ++i) devices.push_back(DeviceId(i));
  return devices;
}

double seconds_per_byte(std::span<const LinkLoad> loads, const Cluster& cluster) {
  double slowest = 0;
  for (const LinkLoad& load : loads) {
    slowest = std::max(slowest, load.demand() / cluster[load.link].bandwidth.value);
  }
  return slowest;
}

/// On idle links.
double seconds(SyncAlgorithm algorithm, const Cluster& cluster, Bytes bytes) {
  double total = 0;
  for (const CollectivePhase& phase : collective_phases(algorithm, cluster, all(cluster), bytes)) {
    const double amount = phase.bytes_per_byte * static_cast<double>(bytes.value);
    total += phase.latency.value + amount * seconds_per_byte(phase.loads, cluster);
  }
  return total;
}

double load_on(const CollectivePhase& phase, LinkId link) {
  for (const LinkLoad& load : phase.loads) {
    if (load.link == link) return load.weight * phase.bytes_per_byte;
  }
  return 0;
}

constexpr Bytes kTensor{160'000'000};

TEST(Ring, MovesTwiceTheTensorLessItsOwnPartOverEveryLink) {
  // 16 devices on a switch at 10 GB/s: 2 (15/16) 160 MB / 10 GB/s = 30 ms; no latency.
  EXPECT_NEAR(seconds(SyncAlgorithm::ring, testing::star(16), kTensor), 0.030, 1e-12);
}

TEST(Ring, PaysALatencyForEachOfItsRounds) {
  // Of two hosts with one device each: a path of 2.7 us, 2 (r - 1) = 2 rounds.
  const Cluster cluster = preset_cluster("p100-2x1");
  const auto phases = collective_phases(SyncAlgorithm::ring, cluster, all(cluster));
  ASSERT_EQ(phases.size(), 1u);
  EXPECT_NEAR(phases[0].latency.value, 2 * cluster.latency(DeviceId(0), DeviceId(1)).value, 1e-15);
}

TEST(Ring, EntersAndLeavesEachHostOnce) {
  const Cluster cluster = preset_cluster("p100-4x4");
  const std::vector<DeviceId> ring = ring_order(cluster, all(cluster));
  int crossings = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    crossings += cluster[ring[i]].host != cluster[ring[(i + 1) % ring.size()]].host;
  }
  EXPECT_EQ(crossings, 4);
  // Every NIC then carries one hop: 2 (15/16) of the tensor over 12.5 GB/s.
  EXPECT_NEAR(seconds(SyncAlgorithm::ring, cluster, kTensor), 2.0 * 15 / 16 * 160e6 / 12.5e9, 1e-3);
}

// 2 hosts of 4 devices, each with a NIC of 25 GB/s: 4 rings of 1/4, each of 8 devices. Of every
// ring's 8 hops 2 (7/8) B/4 cross a NIC once each way; inside, three of the four rings leave a
// device for the next one of its host.
TEST(Ring, UsesTheNicOfEveryDevice) {
  const Cluster cluster = preset_cluster("a100-2x4");
  const auto phases = collective_phases(SyncAlgorithm::ring, cluster, all(cluster));
  ASSERT_EQ(phases.size(), 1u);
  for (int gpu = 0; gpu < 8; ++gpu) {
    const std::string device = "host" + std::to_string(gpu / 4) + "/gpu" + std::to_string(gpu);
    EXPECT_EQ(load_on(phases[0], cluster.find_link(device + "-nic>core")), 1.75 / 4) << gpu;
    EXPECT_EQ(load_on(phases[0], cluster.find_link("core>" + device + "-nic")), 1.75 / 4) << gpu;
    EXPECT_EQ(load_on(phases[0], cluster.find_link(device + ">switch")), 1.75 * 3 / 4) << gpu;
  }
  // 7 of 8 hops, twice: both hops between hosts, and 5 inside. The protocol for few bytes adds
  // 10.1 us, and 0.09 us to each step inside.
  EXPECT_NEAR(phases[0].latency.value, 10.1e-6 + 2 * (2 * 2.7e-6 + 5 * 0.69e-6), 1e-15);
}

// Hosts with 3 and 2 devices of a group: two rings, so that the third NIC carries nothing.
TEST(Ring, HasAsManyRailsAsTheSmallestHostHasDevices) {
  const Cluster cluster = preset_cluster("a100-2x4");
  const std::vector<DeviceId> devices = {DeviceId(0), DeviceId(1), DeviceId(2), DeviceId(4),
                                         DeviceId(5)};
  const auto phases = collective_phases(SyncAlgorithm::ring, cluster, devices);
  ASSERT_EQ(phases.size(), 1u);
  const double moved = phases[0].bytes_per_byte;
  EXPECT_DOUBLE_EQ(moved, 2.0 * 4 / 5);
  double out = 0;
  for (int gpu = 0; gpu < 3; ++gpu) {
    const std::string nic = "host0/gpu" + std::to_string(gpu) + "-nic>core";
    EXPECT_LE(load_on(phases[0], cluster.find_link(nic)), moved / 2);
    out += load_on(phases[0], cluster.find_link(nic));
  }
  EXPECT_DOUBLE_EQ(out, moved);
}

// One device a host: the ring is over the NICs of these.
TEST(Ring, OfOneDeviceAHostHasItsNicToItself) {
  const Cluster cluster = preset_cluster("a100-4x4");
  const std::vector<DeviceId> devices = {DeviceId(1), DeviceId(5), DeviceId(9), DeviceId(13)};
  const auto phases = collective_phases(SyncAlgorithm::ring, cluster, devices);
  ASSERT_EQ(phases.size(), 1u);
  EXPECT_EQ(load_on(phases[0], cluster.find_link("host0/gpu1-nic>core")), 1.5);
  EXPECT_EQ(load_on(phases[0], cluster.find_link("host0/gpu0-nic>core")), 0);
}

TEST(Ring, FollowsTheNvlinksOfAHybridCubeMesh) {
  const Cluster cluster = preset_cluster("dgx1-p100");
  const std::vector<DeviceId> ring = ring_order(cluster, all(cluster));
  for (std::size_t i = 0; i < ring.size(); ++i) {
    EXPECT_EQ(cluster.route(ring[i], ring[(i + 1) % ring.size()]).size(), 1u) << i;
  }
}

TEST(Tree, LoadsNoLinkWithMoreThanTwiceTheTensor) {
  for (std::size_t devices : {2, 3, 5, 8, 13, 16}) {
    const Cluster cluster = testing::star(devices);
    const auto phases = collective_phases(SyncAlgorithm::tree, cluster, all(cluster));
    ASSERT_EQ(phases.size(), 1u);
    double sum = 0;
    for (std::size_t link = 0; link < cluster.links().size(); ++link) {
      EXPECT_LE(load_on(phases[0], LinkId(link)), 2.0);
      sum += load_on(phases[0], LinkId(link));
    }
    // r - 1 edges in each of two trees, half of the tensor up and half down, over two links each.
    EXPECT_NEAR(sum, 4.0 * static_cast<double>(devices - 1), 1e-12);
  }
}

TEST(Tree, NeedsFewerLatenciesThanARing) {
  const Cluster cluster = preset_cluster("p100-4x4");
  EXPECT_LT(seconds(SyncAlgorithm::tree, cluster, Bytes{64}),
            seconds(SyncAlgorithm::ring, cluster, Bytes{64}));
}

TEST(Hierarchical, SendsOnlyItsPartsBetweenHosts) {
  const Cluster cluster = preset_cluster("p100-4x4");
  const auto phases = collective_phases(SyncAlgorithm::hierarchical, cluster, all(cluster));
  ASSERT_EQ(phases.size(), 3u);
  // Inside a host of 4: a reduce-scatter moves 3/4 of the tensor over every hop.
  EXPECT_NEAR(phases[0].bytes_per_byte, 0.75, 1e-15);
  EXPECT_EQ(phases[0], phases[2]);
  // Between 4 hosts: 4 rings of 1/4 each share the NIC: 4 x 2 (3/4) / 4 = 1.5 of the tensor.
  const LinkId nic = cluster.find_link("host0/nic>core");
  ASSERT_TRUE(nic.valid());
  EXPECT_NEAR(load_on(phases[1], nic), 1.5, 1e-12);
}

TEST(Hierarchical, TakesARingsTimeInOneHost) {
  const Cluster cluster = preset_cluster("p100-1x4");
  EXPECT_NEAR(seconds(SyncAlgorithm::hierarchical, cluster, kTensor),
              seconds(SyncAlgorithm::ring, cluster, kTensor), 1e-15);
}

// Hosts of 2 and 1 devices have one lane: the second device of the first host hands its half of the
// reduce-scatter on, so B/2 + B/2 cross its link to the switch, and the ring between the hosts
// carries all of the tensor.
TEST(Hierarchical, HandsThePartsOfLargerHostsToTheirLanes) {
  std::string toml = "name = \"x\"\n[[switch]]\nname = \"hub\"\n";
  for (const auto& [device, host] : {std::pair("a", "h0"), {"b", "h0"}, {"c", "h1"}}) {
    toml += std::string("[[device]]\nname = \"") + device + "\"\nkind = \"p100\"\nhost = \"" +
            host + "\"\n[[link]]\nname = \"" + device + "\"\nfrom = \"" + device +
            "\"\nto = \"hub\"\nbandwidth = \"10 GB/s\"\nduplex = true\n";
  }
  const Cluster cluster = parse_cluster(toml, "x.toml");
  const auto phases = collective_phases(SyncAlgorithm::hierarchical, cluster, all(cluster));
  ASSERT_EQ(phases.size(), 3u);
  EXPECT_NEAR(load_on(phases[0], cluster.find_link("b")), 1.0, 1e-15);
  EXPECT_NEAR(load_on(phases[1], cluster.find_link("a")), 1.0, 1e-15);
  EXPECT_NEAR(load_on(phases[2], cluster.find_link("b.back")), 1.0, 1e-15);
}

// One-way links make a reversed run longer or shorter than it was: the search must still end.
TEST(Ring, IsFoundOnRandomOneWayNetworks) {
  testing::Random random(9);
  for (int round = 0; round < 200; ++round) {
    const std::int64_t n = testing::pick(random, 3, 9);
    std::string toml = "name = \"x\"\n";
    for (std::int64_t i = 0; i < n; ++i) {
      toml += "[[device]]\nname = \"d" + std::to_string(i) + "\"\nkind = \"p100\"\n";
    }
    std::set<std::pair<std::int64_t, std::int64_t>> links;
    for (std::int64_t i = 0; i < n; ++i) links.insert({i, (i + 1) % n});
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t a = testing::pick(random, 0, n - 1), b = testing::pick(random, 0, n - 1);
      if (a != b) links.insert({a, b});
    }
    for (const auto& [a, b] : links) {
      toml += "[[link]]\nfrom = \"d" + std::to_string(a) + "\"\nto = \"d" + std::to_string(b) +
              "\"\nbandwidth = \"1 GB/s\"\n";
    }
    const Cluster cluster = parse_cluster(toml, "x.toml");
    std::vector<DeviceId> ring = ring_order(cluster, all(cluster));
    std::sort(ring.begin(), ring.end());
    EXPECT_EQ(ring, all(cluster));
  }
}

/// a100-HxD with its links, and round figures of how collectives use them.
Cluster with_library(const char* preset, bool switch_sums) {
  std::string toml = print_cluster(preset_cluster(preset));
  toml.resize(toml.find("[collectives]"));
  toml += R"([collectives]
copy = 0.5
[[collectives.protocol]]
name = "small"
latency = "5 us"
step = "1 us"
network_step = "2 us"
share = 0.25
network_share = 0.5
[[collectives.protocol]]
name = "large"
latency = "20 us"
step = "3 us"
network_step = "10 us"
share = 0.75
)";
  if (switch_sums) toml += "[collectives.switch_sums]\nlatency = \"50 us\"\nshare = 0.6\n";
  return parse_cluster(toml, "x.toml");
}

// Of a sum of 4 devices: 6 steps of 0.6 us each beyond what the protocol says, and 6 1/2 quarters
// of the tensor over links of 300 GB/s, of which a quarter or three can be used.
TEST(Protocols, TheFastestForTheSizeIsTaken) {
  const Cluster cluster = with_library("a100-1x4", false);
  const auto small = [](double bytes) { return 5e-6 + 6 * 1.6e-6 + 6.5 / 4 * bytes / 75e9; };
  const auto large = [](double bytes) { return 20e-6 + 6 * 3.6e-6 + 6.5 / 4 * bytes / 225e9; };
  EXPECT_NEAR(seconds(SyncAlgorithm::ring, cluster, Bytes{1000}), small(1e3), 1e-12);
  EXPECT_NEAR(seconds(SyncAlgorithm::ring, cluster, Bytes{100'000'000}), large(1e8), 1e-12);
  // They take as long at 27 us / (6.5 / 4) / (1/75 - 1/225) GB/s = 1.869 MB.
  EXPECT_NEAR(seconds(SyncAlgorithm::ring, cluster, Bytes{1'860'000}), small(1.86e6), 1e-12);
  EXPECT_NEAR(seconds(SyncAlgorithm::ring, cluster, Bytes{1'880'000}), large(1.88e6), 1e-12);
}

// Half of the steps and of the parts, but all of the protocol's latency and of what is copied.
TEST(Protocols, AHalfOfASumIsMoreThanHalfOfIt) {
  const Cluster cluster = with_library("a100-1x4", false);
  const auto phases = collective_phases(SyncAlgorithm::ring, cluster, all(cluster), Bytes{1000},
                                        GroupWork::all_gather);
  ASSERT_EQ(phases.size(), 1u);
  EXPECT_NEAR(phases[0].latency.value, 5e-6 + 3 * 1.6e-6, 1e-15);
  EXPECT_NEAR(phases[0].bytes_per_byte * seconds_per_byte(phases[0].loads, cluster), 3.5 / 4 / 75e9,
              1e-24);
}

// Every device sends the tensor to the switch and gets the sum, and a quarter more of it each way.
TEST(Protocols, TheSwitchSumsLargeTensors) {
  const Cluster cluster = with_library("a100-1x4", true);
  const double summed = 50e-6 + 2 * 0.6e-6 + 1.25 * 1e8 / 180e9;
  EXPECT_NEAR(seconds(SyncAlgorithm::ring, cluster, Bytes{100'000'000}), summed, 1e-12);
  // Over 2 devices it moves as much as a ring and an eighth more: the ring is faster.
  const auto phases = collective_phases(SyncAlgorithm::ring, cluster,
                                        std::vector{DeviceId(0), DeviceId(1)}, Bytes{1 << 30});
  EXPECT_EQ(phases[0].bytes_per_byte, 1.0);
}

// 2 hosts of 4: each NIC of 25 GB/s carries a quarter of 2 (7/8) of the tensor. Of each ring's 7
// hops 2 are between hosts.
TEST(Protocols, HaveOtherFiguresBetweenHosts) {
  const Cluster cluster = with_library("a100-2x4", true);
  const double latency = 20e-6 + 2 * (2 * 12.7e-6 + 5 * 3.6e-6);
  EXPECT_NEAR(seconds(SyncAlgorithm::ring, cluster, Bytes{1'000'000'000}),
              latency + 1.75 / 4 * 1e9 / 25e9, 1e-9);
  // What-ifs of links reach it.
  const Cluster faster = apply(cluster, "link.inter.bandwidth", "1000 GB/s");
  EXPECT_NEAR(seconds(SyncAlgorithm::ring, faster, Bytes{1'000'000'000}),
              latency + 1.75 * 14.5 / 14 * 3 / 4 * 1e9 / 225e9, 1e-9);
}

// Eq. 1's time of groups that sum at once, each by the protocol for its own bytes.
TEST(Protocols, JointSumsTakeThoseOfEachGroup) {
  const Cluster cluster = with_library("a100-1x4", false);
  const JointSync joint(cluster, {{DeviceId(0), DeviceId(1)}, {DeviceId(2), DeviceId(3)}});
  const auto small = [](double bytes) { return 5e-6 + 2 * 1.6e-6 + 2.5 / 2 * bytes / 75e9; };
  const auto large = [](double bytes) { return 20e-6 + 2 * 3.6e-6 + 2.5 / 2 * bytes / 225e9; };
  const auto time = [&](std::int64_t a, std::int64_t b) {
    return joint.time(SyncAlgorithm::ring, std::vector{Bytes{a}, Bytes{b}}, 0).value;
  };
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_NEAR(time(1000, 1000), small(1e3), 1e-12);
    EXPECT_NEAR(time(100'000'000, 100'000'000), large(1e8), 1e-12);
    EXPECT_NEAR(time(1000, 100'000'000), large(1e8), 1e-12);
  }
}

// No protocol needs less of a link than the least of all.
TEST(Protocols, NoneNeedsLessThanTheLeast) {
  for (const SyncAlgorithm algorithm :
       {SyncAlgorithm::ring, SyncAlgorithm::tree, SyncAlgorithm::hierarchical}) {
    for (const char* preset : {"a100-1x4", "a100-2x4"}) {
      const Cluster cluster = with_library(preset, true);
      const Collective sum(algorithm, GroupWork::all_reduce, cluster, all(cluster));
      const std::vector<CollectivePhase> least = sum.least();
      for (const std::int64_t bytes : {1, 100'000, 10'000'000, 1'000'000'000}) {
        const std::vector<CollectivePhase> phases = sum.phases(sum.fastest(Bytes{bytes}));
        ASSERT_EQ(phases.size(), least.size());
        for (std::size_t k = 0; k < phases.size(); ++k) {
          EXPECT_LE(least[k].latency, phases[k].latency);
          ASSERT_EQ(phases[k].loads.size(), least[k].loads.size());
          for (std::size_t i = 0; i < phases[k].loads.size(); ++i) {
            EXPECT_LE(least[k].bytes_per_byte * least[k].loads[i].demand(),
                      phases[k].bytes_per_byte * phases[k].loads[i].demand() * (1 + 1e-12));
          }
        }
      }
    }
  }
}

TEST(Collective, OneDeviceHasNothingToDo) {
  const Cluster cluster = testing::star(1);
  for (SyncAlgorithm algorithm :
       {SyncAlgorithm::ring, SyncAlgorithm::tree, SyncAlgorithm::hierarchical}) {
    EXPECT_TRUE(collective_phases(algorithm, cluster, all(cluster)).empty());
  }
}

TEST(Movements, TheMostLoadedLinkSetsTheTime) {
  const Cluster cluster = testing::star(3);
  // Two senders of 10 MB to device 0: its link carries 20 MB at 10 GB/s.
  const std::vector<Movement> movements = {{DeviceId(1), DeviceId(0), 10e6},
                                           {DeviceId(2), DeviceId(0), 10e6}};
  const MovementLoads loads = movement_loads(cluster, movements);
  const double moving = loads.bytes * seconds_per_byte(loads.loads, cluster);
  EXPECT_NEAR(loads.latency.value + moving, 2e-3, 1e-15);
}

}  // namespace
}  // namespace strata
