#include "sim/cluster/host_symmetry.h"

#include <string>

#include <gtest/gtest.h>

#include "sim/cluster/cluster_file.h"
#include "sim/cluster/presets.h"
#include "sim/cluster/what_if.h"

namespace strata {
namespace {

std::vector<std::uint32_t> types(const HostSymmetry& hosts) {
  std::vector<std::uint32_t> result;
  for (std::size_t h = 0; h < hosts.hosts(); ++h) result.push_back(hosts.type(h));
  return result;
}

using Types = std::vector<std::uint32_t>;

TEST(HostSymmetry, HostsOfAGridAreAlike) {
  for (const char* name : {"p100-4x4", "h200-4x8", "k80-4x4", "p100-4x1"}) {
    const HostSymmetry hosts(preset_cluster(name));
    ASSERT_TRUE(hosts.holds()) << name;
    EXPECT_EQ(types(hosts), (Types{0, 0, 0, 0})) << name;
  }
}

// Three hosts of two: device 5 is the second of the third, and a link's number is the same in every
// host where it joins the same devices.
TEST(HostSymmetry, NumbersDevicesAndLinksWithinTheirHosts) {
  const Cluster cluster = preset_cluster("p100-3x2");
  const HostSymmetry hosts(cluster);
  EXPECT_EQ(hosts.hosts(), 3u);
  EXPECT_EQ(hosts.host(DeviceId(5)), 2u);
  EXPECT_EQ(hosts.number(DeviceId(5)), 1u);
  EXPECT_EQ(hosts.device(1, 0), DeviceId(2));
  const LinkId first = cluster.find_link("host0/gpu0>gpu1");
  const LinkId third = cluster.find_link("host2/gpu4>gpu5");
  EXPECT_EQ(hosts.host(third), 2u);
  EXPECT_EQ(hosts.number(third), hosts.number(first));
  EXPECT_EQ(hosts.link(2, hosts.number(first)), third);
}

// In one host each device stands for itself, if no link leads from one to another directly.
TEST(HostSymmetry, DevicesOfOneHostOnASwitchAreAlike) {
  const HostSymmetry hosts(preset_cluster("h200-1x8"));
  ASSERT_TRUE(hosts.holds());
  EXPECT_EQ(hosts.hosts(), 8u);
  EXPECT_EQ(types(hosts), Types(8, 0));
  EXPECT_FALSE(HostSymmetry(preset_cluster("p100-1x4")).holds());
}

TEST(HostSymmetry, AStragglerAndASlowLinkMakeTypesOfTheirOwn) {
  const Cluster cluster = preset_cluster("p100-4x2");
  EXPECT_EQ(types(HostSymmetry(apply(cluster, "device.gpu5.speed", "0.5"))), (Types{0, 0, 1, 0}));
  EXPECT_EQ(types(HostSymmetry(apply(cluster, "link.host1/nic>core.bandwidth", "0.5x"))),
            (Types{0, 1, 0, 0}));
}

std::vector<std::uint32_t> first_alike(const Cluster& cluster) {
  const HostSymmetry hosts(cluster);
  std::vector<std::uint32_t> result;
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    result.push_back(hosts.first_alike(DeviceId(d)));
  }
  return result;
}

// Each with its links to the host's switch and to the network, but for a straggler, and one whose
// link is slower.
TEST(HostSymmetry, DevicesOfAHostMayBeExchanged) {
  const Cluster cluster = preset_cluster("a100-2x4");
  EXPECT_TRUE(HostSymmetry(cluster).splits(0));
  EXPECT_EQ(first_alike(cluster), (Types{0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(first_alike(apply(cluster, "device.gpu5.speed", "0.5")),
            (Types{0, 0, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(first_alike(apply(cluster, "link.host0/gpu2-nic>core.bandwidth", "0.5x")),
            (Types{0, 0, 2, 0, 0, 0, 0, 0}));
  const HostSymmetry hosts(cluster);
  const LinkId link = cluster.find_link("host1/gpu6>switch");
  EXPECT_EQ(hosts.owner(link), DeviceId(6));
  EXPECT_EQ(hosts.own_link(DeviceId(2), hosts.own_number(link)),
            cluster.find_link("host0/gpu2>switch"));
}

// Wired to one another, or with a link of the host that all of them share.
TEST(HostSymmetry, DevicesThatShareLinksAreNotExchanged) {
  for (const char* name : {"p100-2x4", "k80-2x4"}) {
    EXPECT_FALSE(HostSymmetry(preset_cluster(name)).splits(0)) << name;
    EXPECT_EQ(first_alike(preset_cluster(name)), (Types{0, 1, 2, 3, 0, 1, 2, 3})) << name;
  }
  EXPECT_FALSE(HostSymmetry(preset_cluster("dgx1-p100-2")).splits(0));
}

std::string two_hosts(const std::string& more) {
  std::string text = "name = \"two\"\n[[switch]]\nname = \"core\"\n";
  for (const std::string device : {"a", "b", "c", "d"}) {
    text += "[[device]]\nname = \"" + device + "\"\nkind = \"p100\"\nhost = \"" +
            (device < "c" ? "x" : "y") + "\"\n[[link]]\nfrom = \"" + device +
            "\"\nto = \"core\"\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\nduplex = true\n";
  }
  return text + more;
}

// A wire between hosts, a second way of the same length whose name decides, a route that somebody
// wrote out: then types say nothing.
TEST(HostSymmetry, DoesNotHoldWhereRoutesDependOnMore) {
  EXPECT_TRUE(HostSymmetry(parse_cluster(two_hosts(""), "two.toml")).holds());
  const std::string wire =
      "[[link]]\nfrom = \"b\"\nto = \"c\"\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n";
  EXPECT_FALSE(HostSymmetry(parse_cluster(two_hosts(wire), "two.toml")).holds());
  std::string second = "[[switch]]\nname = \"core2\"\n";
  for (const std::string device : {"a", "b", "c", "d"}) {
    second += "[[link]]\nfrom = \"" + device +
              "\"\nto = \"core2\"\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\nduplex = true\n";
  }
  EXPECT_FALSE(HostSymmetry(parse_cluster(two_hosts(second), "two.toml")).holds());
  const std::string route =
      "[[route]]\nfrom = \"a\"\nto = \"c\"\nover = [\"a>core\", \"core>c\"]\n";
  EXPECT_FALSE(HostSymmetry(parse_cluster(two_hosts(route), "two.toml")).holds());
}

}  // namespace
}  // namespace strata
