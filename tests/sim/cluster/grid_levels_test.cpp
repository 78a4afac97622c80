// [[grid.level]]: machines of more levels than a host and a network.

#include <string>

#include <gtest/gtest.h>

#include "sim/cluster/cluster_file.h"
#include "tests/sim/cluster/drawing.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

std::string one_level(const std::string& name, int count, const std::string& more = "") {
  return "[[grid.level]]\nname = \"" + name + "\"\ncount = " + std::to_string(count) + "\n" + more;
}
const std::string kInside = "bandwidth = \"100 GB/s\"\nlatency = \"1 us\"\n";
const std::string kCards = "bandwidth = \"10 GB/s\"\nlatency = \"3 us\"\n";

Cluster cluster_of(const std::string& levels) {
  return parse_cluster("[grid]\nkind = \"p100\"\n" + levels, "c.toml");
}
std::string error_of_levels(const std::string& levels) {
  return said([&] { cluster_of(levels); });
}
double path_us(const Cluster& cluster, std::size_t from, std::size_t to) {
  return cluster.latency(DeviceId(from), DeviceId(to)).value * 1e6;
}
double bandwidth(const Cluster& cluster, const char* link) {
  return cluster[cluster.find_link(link)].bandwidth.value;
}

// Two devices a host, two hosts a rack, whose switch joins four devices: one has them in common
// with a device of its host as with one of the other.
TEST(GridLevels, AHostIsPartOfADomain) {
  const Cluster cluster = cluster_of(one_level("host", 2) + one_level("rack", 2, kInside) +
                                     one_level("core", 2, kCards));
  ASSERT_EQ(cluster.device_count(), 8U);
  EXPECT_EQ(cluster.devices()[6].host, "host3");
  EXPECT_EQ(cluster.devices()[6].domain, "rack1");
  EXPECT_EQ(route_names(cluster, 0, 3), "rack0/gpu0>switch rack0/switch>gpu3");
  EXPECT_EQ(route_names(cluster, 0, 6),
            "rack0/gpu0>nic rack0/gpu0-nic>core core>rack1/gpu6-nic rack1/nic>gpu6");
  EXPECT_EQ(parse_cluster(print_cluster(cluster), "c.toml").devices()[6], cluster.devices()[6]);
}

// A host with a network of its own is the domain, as hosts with [grid.intra] are.
TEST(GridLevels, AHostIsADomain) {
  const std::string hosts =
      "[grid]\nkind = \"p100\"\nhosts = 2\ndevices_per_host = 2\n[grid.intra]\ntopology = "
      "\"pcie\"\n" +
      kInside + "[grid.inter]\ntopology = \"nic-per-host\"\n" + kCards;
  const Cluster cluster =
      cluster_of(one_level("host", 2, "topology = \"pcie\"\n" + kInside) +
                 one_level("core", 2, "topology = \"nic-per-host\"\n" + kCards));
  EXPECT_EQ(cluster, parse_cluster(hosts, "c.toml"));
}

// Two hosts a pod and two pods: the links between pods carry what the four cards of one do, or a
// half of it, and a path over them pays both latencies.
TEST(GridLevels, SwitchesMayBeATree) {
  const std::string below = one_level("host", 2, kInside) + one_level("pod", 2, kCards);
  const Cluster even = cluster_of(below + one_level("spine", 2, "latency = \"2 us\"\n"));
  EXPECT_EQ(route_names(even, 0, 3),
            "host0/gpu0>nic host0/gpu0-nic>pod0 pod0>host1/gpu3-nic host1/nic>gpu3");
  EXPECT_EQ(route_names(even, 0, 7),
            "host0/gpu0>nic host0/gpu0-nic>pod0 pod0>spine spine>pod1 pod1>host3/gpu7-nic "
            "host3/nic>gpu7");
  EXPECT_DOUBLE_EQ(path_us(even, 0, 1), 1);
  EXPECT_DOUBLE_EQ(path_us(even, 0, 3), 3);
  EXPECT_DOUBLE_EQ(path_us(even, 0, 7), 5);
  EXPECT_EQ(bandwidth(even, "pod0>spine"), 40e9);
  EXPECT_EQ(
      bandwidth(cluster_of(below + one_level("spine", 2, "oversubscription = 2\n")), "spine>pod1"),
      20e9);
  EXPECT_EQ(bandwidth(cluster_of(below + one_level("spine", 2, "bandwidth = \"7 GB/s\"\n")),
                      "pod1>spine"),
            7e9);
}

// A rail's switch joins the cards of one number; those of others meet above.
TEST(GridLevels, RailsJoinCardsOfOneNumber) {
  const Cluster cluster =
      cluster_of(one_level("host", 2, kInside) + one_level("leaf", 2, "rails = true\n" + kCards) +
                 one_level("spine", 1));
  EXPECT_EQ(route_names(cluster, 1, 3),
            "host0/gpu1>nic host0/gpu1-nic>leaf0-rail1 leaf0-rail1>host1/gpu3-nic host1/nic>gpu3");
  EXPECT_EQ(route_names(cluster, 0, 3),
            "host0/gpu0>nic host0/gpu0-nic>leaf0-rail0 leaf0-rail0>spine spine>leaf0-rail1 "
            "leaf0-rail1>host1/gpu3-nic host1/nic>gpu3");
  EXPECT_EQ(bandwidth(cluster, "leaf0-rail0>spine"), 20e9);
}

TEST(GridLevels, AreChecked) {
  EXPECT_EQ(error_of_levels(one_level("host", 2)),
            "c.toml:3: no level has a bandwidth: the devices need a network");
  EXPECT_EQ(error_of_levels(one_level("host", 2) + one_level("rack", 2)),
            "c.toml:6: missing key 'bandwidth'");
  EXPECT_EQ(error_of_levels(one_level("host", 0, kInside)),
            "c.toml:5: 'count' must be an integer from 1 to 16384; it is 0");
  EXPECT_EQ(error_of_levels(one_level("host", 2, kInside) + one_level("host", 2, kCards)),
            "c.toml:9: two levels are called 'host'");
  EXPECT_EQ(error_of_levels(one_level("host", 200, kInside) + one_level("core", 200, kCards)),
            "c.toml:1: 200 hosts of 200 devices are more than 16384 devices");
  EXPECT_EQ(
      error_of_levels(one_level("host", 2, kInside) +
                      one_level("core", 2, "rails = true\n" + kCards)),
      "c.toml:1: rails of level \"core\" need a card for each device and a level above, which "
      "joins them");
  EXPECT_EQ(error_of_levels(one_level("host", 200) + one_level("rack", 200, kInside)),
            "c.toml:6: 200 times 200 are more than 16384 devices");
  const std::string below = one_level("host", 2, kInside) + one_level("pod", 2, kCards);
  EXPECT_EQ(error_of_levels(below + one_level("spine", 2, "oversubscription = 0.5\n")),
            "c.toml:16: 'oversubscription' must be a number from 1 to 1000; it is 0.5");
  EXPECT_EQ(error_of_levels(below + one_level("spine", 2, "oversubscription = 2\n" + kCards)),
            "c.toml:16: 'oversubscription' does not go with 'bandwidth'");
  EXPECT_EQ(error_of_levels(below + one_level("spine", 2, "rails = true\n")),
            "c.toml:16: unknown key 'rails'; allowed: name, count, latency, bandwidth, "
            "oversubscription");
}

}  // namespace
}  // namespace strata
