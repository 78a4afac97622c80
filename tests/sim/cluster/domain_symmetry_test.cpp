#include "sim/cluster/domain_symmetry.h"

#include <string>

#include <gtest/gtest.h>

#include "sim/cluster/cluster_file.h"
#include "sim/cluster/presets.h"
#include "sim/cluster/what_if.h"

namespace strata {
namespace {

std::vector<std::uint32_t> types(const DomainSymmetry& domains) {
  std::vector<std::uint32_t> result;
  for (std::size_t h = 0; h < domains.domains(); ++h) result.push_back(domains.type(h));
  return result;
}

using Types = std::vector<std::uint32_t>;

TEST(DomainSymmetry, HostsOfAGridAreAlike) {
  for (const char* name : {"p100-4x4", "h200-4x8", "k80-4x4", "p100-4x1"}) {
    const DomainSymmetry domains(preset_cluster(name));
    ASSERT_TRUE(domains.holds()) << name;
    EXPECT_EQ(types(domains), (Types{0, 0, 0, 0})) << name;
  }
}

// Three domains of two: device 5 is the second of the third, and a link's number is the same in
// every domain where it joins the same devices.
TEST(DomainSymmetry, NumbersDevicesAndLinksWithinTheirHosts) {
  const Cluster cluster = preset_cluster("p100-3x2");
  const DomainSymmetry domains(cluster);
  EXPECT_EQ(domains.domains(), 3u);
  EXPECT_EQ(domains.domain(DeviceId(5)), 2u);
  EXPECT_EQ(domains.number(DeviceId(5)), 1u);
  EXPECT_EQ(domains.device(1, 0), DeviceId(2));
  const LinkId first = cluster.find_link("host0/gpu0>gpu1");
  const LinkId third = cluster.find_link("host2/gpu4>gpu5");
  EXPECT_EQ(domains.domain(third), 2u);
  EXPECT_EQ(domains.number(third), domains.number(first));
  EXPECT_EQ(domains.link(2, domains.number(first)), third);
}

// In one domain each device stands for itself, if no link leads from one to another directly.
TEST(DomainSymmetry, DevicesOfOneHostOnASwitchAreAlike) {
  const DomainSymmetry domains(preset_cluster("h200-1x8"));
  ASSERT_TRUE(domains.holds());
  EXPECT_EQ(domains.domains(), 8u);
  EXPECT_EQ(types(domains), Types(8, 0));
  EXPECT_FALSE(DomainSymmetry(preset_cluster("p100-1x4")).holds());
}

// The hosts of a rack say what shares processors, not what is near: devices of several are alike,
// but for those of a host that has fewer.
TEST(DomainSymmetry, HostsOfARackAreOneDomain) {
  const DomainSymmetry racks(preset_cluster("gb200-3xNVL72"));
  ASSERT_TRUE(racks.holds());
  EXPECT_EQ(types(racks), (Types{0, 0, 0}));
  EXPECT_EQ(racks.device_count(0), 72u);
  EXPECT_EQ(racks.first_alike(DeviceId(143)), 0u);
  const DomainSymmetry uneven(preset_cluster("gb200-2xNVL6"));
  EXPECT_EQ(uneven.first_alike(DeviceId(3)), 0u);
  EXPECT_EQ(uneven.first_alike(DeviceId(5)), 4u);
}

TEST(DomainSymmetry, AStragglerAndASlowLinkMakeTypesOfTheirOwn) {
  const Cluster cluster = preset_cluster("p100-4x2");
  EXPECT_EQ(types(DomainSymmetry(apply(cluster, "device.gpu5.speed", "0.5"))), (Types{0, 0, 1, 0}));
  EXPECT_EQ(types(DomainSymmetry(apply(cluster, "link.host1/nic>core.bandwidth", "0.5x"))),
            (Types{0, 1, 0, 0}));
}

std::vector<std::uint32_t> first_alike(const Cluster& cluster) {
  const DomainSymmetry domains(cluster);
  std::vector<std::uint32_t> result;
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    result.push_back(domains.first_alike(DeviceId(d)));
  }
  return result;
}

// Each with its links to the domain's switch and to the network, but for a straggler, and one whose
// link is slower.
TEST(DomainSymmetry, DevicesOfAHostMayBeExchanged) {
  const Cluster cluster = preset_cluster("a100-2x4");
  EXPECT_TRUE(DomainSymmetry(cluster).splits(0));
  EXPECT_EQ(first_alike(cluster), (Types{0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(first_alike(apply(cluster, "device.gpu5.speed", "0.5")),
            (Types{0, 0, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(first_alike(apply(cluster, "link.host0/gpu2-nic>core.bandwidth", "0.5x")),
            (Types{0, 0, 2, 0, 0, 0, 0, 0}));
  const DomainSymmetry domains(cluster);
  const LinkId link = cluster.find_link("host1/gpu6>switch");
  EXPECT_EQ(domains.owner(link), DeviceId(6));
  EXPECT_EQ(domains.own_link(DeviceId(2), domains.own_number(link)),
            cluster.find_link("host0/gpu2>switch"));
}

// Wired to one another, or with a link of the domain that all of them share.
TEST(DomainSymmetry, DevicesThatShareLinksAreNotExchanged) {
  for (const char* name : {"p100-2x4", "k80-2x4"}) {
    EXPECT_FALSE(DomainSymmetry(preset_cluster(name)).splits(0)) << name;
    EXPECT_EQ(first_alike(preset_cluster(name)), (Types{0, 1, 2, 3, 0, 1, 2, 3})) << name;
  }
  EXPECT_FALSE(DomainSymmetry(preset_cluster("dgx1-p100-2")).splits(0));
}

std::string two_domains(const std::string& more) {
  std::string text = "name = \"two\"\n[[switch]]\nname = \"core\"\n";
  for (const std::string device : {"a", "b", "c", "d"}) {
    text += "[[device]]\nname = \"" + device + "\"\nkind = \"p100\"\nhost = \"" +
            (device < "c" ? "x" : "y") + "\"\n[[link]]\nfrom = \"" + device +
            "\"\nto = \"core\"\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\nduplex = true\n";
  }
  return text + more;
}

// Hosts below one switch are alike, and those of another are of another type. The link from a
// switch to the upper one is nobody's, with or without rails.
TEST(DomainSymmetry, HostsBelowOneSwitchOfATreeAreAlike) {
  for (const std::string rails : {"", "rails = true\n"}) {
    const Cluster cluster = parse_cluster(R"([grid]
[[grid.level]]
name = "host"
count = 2
bandwidth = "100 GB/s"
[[grid.level]]
name = "leaf"
count = 3
bandwidth = "10 GB/s"
)" + rails + R"([[grid.level]]
name = "spine"
count = 2
)",
                                          "tree.toml");
    const DomainSymmetry hosts(cluster);
    ASSERT_TRUE(hosts.holds());
    EXPECT_EQ(types(hosts), (Types{0, 0, 0, 1, 1, 1}));
    EXPECT_TRUE(hosts.splits(0));
    EXPECT_EQ(hosts.first_alike(DeviceId(1)), rails.empty() ? 0u : 1u);
    const std::string leaf = rails.empty() ? "leaf1" : "leaf1-rail1";
    EXPECT_TRUE(hosts.is_shared(cluster.find_link(leaf + ">spine")));
    EXPECT_FALSE(hosts.is_shared(cluster.find_link("host5/gpu11-nic>" + leaf)));
  }
}

// A wire between domains, a second way of the same length whose name decides, a route that somebody
// wrote out: then types say nothing.
TEST(DomainSymmetry, DoesNotHoldWhereRoutesDependOnMore) {
  EXPECT_TRUE(DomainSymmetry(parse_cluster(two_domains(""), "two.toml")).holds());
  const std::string wire =
      "[[link]]\nfrom = \"b\"\nto = \"c\"\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n";
  EXPECT_FALSE(DomainSymmetry(parse_cluster(two_domains(wire), "two.toml")).holds());
  std::string second = "[[switch]]\nname = \"core2\"\n";
  for (const std::string device : {"a", "b", "c", "d"}) {
    second += "[[link]]\nfrom = \"" + device +
              "\"\nto = \"core2\"\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\nduplex = true\n";
  }
  EXPECT_FALSE(DomainSymmetry(parse_cluster(two_domains(second), "two.toml")).holds());
  const std::string route =
      "[[route]]\nfrom = \"a\"\nto = \"c\"\nover = [\"a>core\", \"core>c\"]\n";
  EXPECT_FALSE(DomainSymmetry(parse_cluster(two_domains(route), "two.toml")).holds());
}

}  // namespace
}  // namespace strata
