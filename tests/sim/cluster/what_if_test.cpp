#include "sim/cluster/what_if.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "sim/cluster/builder.h"
#include "sim/cluster/cluster_file.h"
#include "sim/cluster/presets.h"
#include "tests/sim/cluster/drawing.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

const Link& link(const Cluster& cluster, std::string_view name) {
  return cluster[cluster.find_link(name)];
}

TEST(WhatIf, BandwidthByKindByNameAndForAll) {
  const Cluster before = preset_cluster("p100-2x2");
  const Cluster faster = apply(before, "link.inter.bandwidth", "2x");
  EXPECT_EQ(link(faster, "host0/nic>core").bandwidth.value, 25e9);
  EXPECT_EQ(link(faster, "host0/gpu0>nic").bandwidth.value, 25e9);
  EXPECT_EQ(link(faster, "host0/gpu0>gpu1").bandwidth.value, 20e9);
  const Cluster one = apply(before, "link.host0/gpu0>gpu1.bandwidth", "5 GB/s");
  EXPECT_EQ(link(one, "host0/gpu0>gpu1").bandwidth.value, 5e9);
  EXPECT_EQ(link(one, "host0/gpu1>gpu0").bandwidth.value, 20e9);
  const Cluster slow = apply(before, "link.*.bandwidth", "1 GB/s");
  for (const Link& each : slow.links()) {
    EXPECT_EQ(each.bandwidth.value, 1e9);
  }
  EXPECT_EQ(apply(faster, "link.inter.bandwidth", "0.5x"), before);
}

TEST(WhatIf, CollectivesMoveBytesAsBefore) {
  const Cluster before = preset_cluster("a100-2x2");
  EXPECT_EQ(apply(before, "link.inter.bandwidth", "100 GB/s").communication_library(),
            before.communication_library());
}

// In the grids one link carries the latency of a path, so the path gets what is asked for.
TEST(WhatIf, LatencyIsThatOfThePath) {
  const Cluster slow = apply(preset_cluster("p100-2x2"), "link.inter.latency", "50 us");
  EXPECT_DOUBLE_EQ(slow.latency(DeviceId(0), DeviceId(3)).value, 50e-6);
  EXPECT_EQ(slow.latency(DeviceId(0), DeviceId(1)).value, 0.6e-6);
  const Cluster half = apply(slow, "link.inter.latency", "0.5x");
  EXPECT_DOUBLE_EQ(half.latency(DeviceId(0), DeviceId(3)).value, 25e-6);
  const Cluster none = apply(slow, "link.*.latency", "0 s");
  EXPECT_EQ(none.latency(DeviceId(0), DeviceId(3)).value, 0);
}

TEST(WhatIf, LatencyMayChangeRoutes) {
  ClusterBuilder builder("diamond");
  for (const char* name : {"a", "b", "x", "y"}) builder.add_device({.name = name});
  for (const char* via : {"x", "y"}) {
    builder.add_duplex("a", via, {1e9}, {1e-6});
    builder.add_duplex(via, "b", {1e9}, {1e-6});
  }
  const Cluster cluster = std::move(builder).build();
  EXPECT_EQ(route_names(cluster, 0, 1), "a>x x>b");
  EXPECT_EQ(route_names(apply(cluster, "link.a>x.latency", "9 us"), 0, 1), "a>y y>b");
}

TEST(WhatIf, SpeedByNameHostAndKind) {
  const auto speeds = [](const Cluster& cluster) {
    std::string text;
    for (const Device& device : cluster.devices()) text += fmt::format("{} ", device.speed);
    return text;
  };
  const Cluster before = preset_cluster("p100-2x2");
  const Cluster straggler = apply(before, "device.gpu3.speed", "0.5");
  EXPECT_EQ(speeds(straggler), "1 1 1 0.5 ");
  EXPECT_EQ(speeds(apply(straggler, "device.host1.speed", "0.5x")), "1 1 0.5 0.25 ");
  EXPECT_EQ(speeds(apply(straggler, "device.p100.speed", "2")), "2 2 2 2 ");
  EXPECT_EQ(speeds(apply(straggler, "device.first:1.speed", "2x")), "2 1 1 0.5 ");
  EXPECT_EQ(speeds(apply(straggler, "device.last:2.speed", "0.5x")), "1 1 0.5 0.25 ");
  EXPECT_EQ(speeds(apply(straggler, "device.*.speed", "2x")), "2 2 2 1 ");
}

TEST(WhatIf, MemoryTakesThePlaceOfTheKindsAndSomethingElseMayTakePart) {
  const Cluster before = preset_cluster("a100-1x2");
  const Bytes of_kind{80'000'000'000};
  EXPECT_EQ(before[DeviceId(0)].memory_left(of_kind), of_kind);
  const Cluster smaller = apply(before, "device.gpu1.memory", "40 GB");
  EXPECT_EQ(smaller[DeviceId(0)].memory_left(of_kind), of_kind);
  EXPECT_EQ(smaller[DeviceId(1)].memory_left(of_kind), Bytes{40'000'000'000});
  const Cluster shared = apply(smaller, "device.*.memory_reserve", "30 GB");
  EXPECT_EQ(shared[DeviceId(0)].memory_left(of_kind), Bytes{50'000'000'000});
  EXPECT_EQ(shared[DeviceId(1)].memory_left(of_kind), Bytes{10'000'000'000});
  EXPECT_EQ(parse_cluster(print_cluster(shared), "a.toml"), shared);
  EXPECT_EQ(said([&] { apply(before, "device.gpu1.memory", "0"); }),
            "cluster a100-1x2: device 'gpu1': memory must be positive, as \"40 GB\"");
}

TEST(WhatIf, SaysWhatIsAllowed) {
  const Cluster cluster = preset_cluster("p100-1x2");
  const auto error = [&](std::string_view key, std::string_view value) {
    return said([&] { apply(cluster, key, value); });
  };
  for (const char* key : {"", "link", "link.inter", "link..bandwidth", "link.bandwidth",
                          "device.gpu0.bandwidth", "links.inter.bandwidth"}) {
    EXPECT_EQ(error(key, "2x"), "unknown key '" + std::string(key) +
                                    "'; allowed: link.SELECTOR.bandwidth, link.SELECTOR.latency, "
                                    "device.SELECTOR.speed, device.SELECTOR.memory, "
                                    "device.SELECTOR.memory_reserve, "
                                    "communication.network_share, network.oversubscription");
  }
  EXPECT_EQ(error("link.inter.bandwidth", "2x"),
            "cluster p100-1x2 has no link 'inter'; allowed: *, a kind (intra), or a link's name "
            "(host0/gpu0>gpu1, host0/gpu1>gpu0)");
  EXPECT_EQ(error("device.gpu2.speed", "2"),
            "cluster p100-1x2 has no device 'gpu2'; allowed: *, a kind (p100), a host (host0), a "
            "device's name (gpu0, gpu1), first:K or last:K");
  EXPECT_EQ(
      error("device.gpu0.speed", "-1"),
      "'-1' is not a speed; allowed: a positive number, 1 for the profile's own, or a factor, "
      "as in \"0.5x\"");
  EXPECT_EQ(error("link.intra.latency", "5"),
            "'5' is not a time; allowed: a number of at least 0 with s, ms, us, ns or ps, as in "
            "\"1 us\"");
  EXPECT_EQ(error("link.intra.bandwidth", "0x"),
            "'0x' is not a factor; allowed: a positive number with x, as in \"0.5x\"");
  EXPECT_NE(error("link.intra.bandwidth", "1e308x"), "");
  EXPECT_EQ(error("network.oversubscription", "0.5"),
            "'0.5' is not a ratio; allowed: a number from 1 to 1000");
  EXPECT_EQ(error("communication.network_share", "1.5"),
            "1.5 is not a share of the bandwidth between hosts; allowed: a number above 0, at most "
            "1, or a factor that leads to one");
}

// A switch has four cards of 10 GB/s below it; one of the upper level two switches, whose links
// carry a half and so a quarter. With one switch for all, cards have a half; in one host nothing.
TEST(WhatIf, ANetworkMayBeOversubscribed) {
  const Cluster tree = parse_cluster(R"([grid]
[[grid.level]]
name = "host"
count = 2
bandwidth = "100 GB/s"
[[grid.level]]
name = "leaf"
count = 2
bandwidth = "10 GB/s"
[[grid.level]]
name = "pod"
count = 2
[[grid.level]]
name = "spine"
count = 2
)",
                                     "tree.toml");
  const auto bandwidth = [](const Cluster& cluster, const char* link) {
    return cluster[cluster.find_link(link)].bandwidth.value;
  };
  EXPECT_EQ(bandwidth(tree, "leaf0>pod0"), 40e9);
  EXPECT_EQ(bandwidth(tree, "spine>pod1"), 80e9);
  const Cluster half = apply(tree, "network.oversubscription", "2");
  EXPECT_EQ(bandwidth(half, "leaf0>pod0"), 20e9);
  EXPECT_EQ(bandwidth(half, "pod1>leaf3"), 20e9);
  EXPECT_EQ(bandwidth(half, "pod0>spine"), 20e9);
  EXPECT_EQ(bandwidth(half, "spine>pod1"), 20e9);
  EXPECT_EQ(bandwidth(half, "host0/gpu0-nic>leaf0"), 10e9);
  EXPECT_EQ(apply(half, "network.oversubscription", "1"), tree);
  const Cluster one = apply(preset_cluster("h100-2x8"), "network.oversubscription", "2");
  EXPECT_EQ(bandwidth(one, "host0/gpu0-nic>core"), 25e9);
  EXPECT_EQ(bandwidth(one, "core>host1/gpu8-nic"), 25e9);
  EXPECT_EQ(bandwidth(one, "host0/gpu0>nic"), 50e9);
  const Cluster host = preset_cluster("h100-1x8");
  EXPECT_EQ(apply(host, "network.oversubscription", "3"), host);
}

// Of two normal numbers the larger is expected at 1 / sqrt(pi), of three at 1.5 / sqrt(pi); for
// hundreds the tables of order statistics (Harter, 1961) have 2.50759.
TEST(WhatIf, AllHostsWaitForTheSlowest) {
  const auto slower = [](std::string_view cluster) {
    const Cluster changed = with_host_jitter(preset_cluster(cluster), 0.1);
    return 1 / changed[DeviceId(0)].speed - 1;
  };
  EXPECT_DOUBLE_EQ(slower("a100-1x8"), 0);
  EXPECT_NEAR(slower("a100-2x8"), 0.1 / std::sqrt(std::numbers::pi), 1e-9);
  EXPECT_NEAR(slower("a100-3x1"), 0.15 / std::sqrt(std::numbers::pi), 1e-9);
  EXPECT_NEAR(slower("a100-100x1"), 0.250759, 1e-6);
}

TEST(WhatIf, JitterMultipliesTheSpeedThatIsThere) {
  const Cluster slow = apply(preset_cluster("a100-2x8"), "device.first:1.speed", "0.5");
  const Cluster changed = with_host_jitter(slow, 0.1);
  EXPECT_DOUBLE_EQ(changed[DeviceId(0)].speed / changed[DeviceId(1)].speed, 0.5);
}

}  // namespace
}  // namespace strata
