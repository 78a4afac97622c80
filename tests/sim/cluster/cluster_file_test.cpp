#include "sim/cluster/cluster_file.h"

#include <gtest/gtest.h>

#include "sim/cluster/presets.h"
#include "sim/text/file.h"
#include "tests/paths.h"
#include "tests/sim/cluster/drawing.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

std::string error_of(const std::string& toml) {
  return said([&] { parse_cluster(toml, "c.toml"); });
}

constexpr const char* kTwoBoxes = R"(name = "two-boxes"
[[device]]
name = "gpu0"
kind = "p100"
host = "box0"
[[device]]
name = "gpu1"
speed = 0.5
copy_engine = false
assembles = true
forwards = false
[[switch]]
name = "nic0"
[[link]]
name = "up0"
from = "gpu0"
to = "nic0"
bandwidth = "12.5 GB/s"
latency = "1 us"
duplex = true
[[link]]
from = "nic0"
to = "gpu1"
bandwidth = "100 Gb/s"
kind = "inter"
[[route]]
from = "gpu0"
to = "gpu1"
over = ["up0", "nic0>gpu1"]
)";

TEST(ClusterFile, ReadsWhatItDescribes) {
  const Cluster cluster = parse_cluster(kTwoBoxes, "c.toml");
  EXPECT_EQ(cluster.name(), "two-boxes");
  EXPECT_EQ(cluster.devices()[0], (Device{"gpu0", "p100", "box0", 1}));
  EXPECT_EQ(cluster.devices()[1], (Device{"gpu1", "", "", 0.5, false, true, false}));
  EXPECT_EQ(link_lines(cluster),
            "up0: gpu0 -> nic0, 12.5 GB/s, 1 us, \n"
            "up0.back: nic0 -> gpu0, 12.5 GB/s, 1 us, \n"
            "nic0>gpu1: nic0 -> gpu1, 12.5 GB/s, 0 us, inter\n");
  EXPECT_EQ(route_names(cluster, 0, 1), "up0 nic0>gpu1");
  EXPECT_EQ(cluster.fixed_routes().size(), 1U);
}

constexpr const char* kLibrary = R"(
[collectives]
copy = 0.5
[[collectives.protocol]]
name = "small"
latency = "5 us"
share = 0.25
[[collectives.protocol]]
name = "large"
latency = "20 us"
step = "1 us"
network_step = "3 us"
share = 0.8
network_share = 0.9
[collectives.switch_sums]
latency = "70 us"
share = 0.7
[collectives.all_to_all]
latency = "14 us"
step = "1 us"
share = 0.6
copy = 1
[collectives.token_sends]
latency = "50 us"
share = 0.7
network_share = 0.8
forward_share = 0.6
row = "500 B"
)";

TEST(ClusterFile, ReadsHowCollectivesMoveBytes) {
  const Cluster cluster = parse_cluster(kTwoBoxes + std::string(kLibrary), "c.toml");
  const CommunicationLibrary wanted{
      0.5,
      {{"small", Seconds{5e-6}, {}, {}, 0.25, 1},
       {"large", Seconds{20e-6}, Seconds{1e-6}, Seconds{3e-6}, 0.8, 0.9}},
      SwitchSums{Seconds{70e-6}, 0.7},
      AllToAlls{Seconds{14e-6}, Seconds{1e-6}, 0.6, 1},
      TokenSends{Seconds{50e-6}, 0.7, 0.8, 0.6, Bytes{500}}};
  EXPECT_EQ(cluster.communication_library(), wanted);
  EXPECT_NE(cluster, parse_cluster(kTwoBoxes, "c.toml"));
  EXPECT_EQ(parse_cluster(print_cluster(cluster), "c.toml"), cluster);
  EXPECT_EQ(preset_cluster("p100-2x2").communication_library(), CommunicationLibrary{});
  EXPECT_EQ(preset_cluster("a100-2x2").communication_library().protocols.size(), 3U);
}

TEST(ClusterFile, SaysWhatIsWrongWithCollectives) {
  const std::string device = "[[device]]\nname = \"a\"\n";
  EXPECT_EQ(error_of(device + "[collectives]\ncopy = 1"),
            "c.toml:3: [collectives] needs one [[collectives.protocol]] at least");
  EXPECT_EQ(error_of(device + "[[collectives.protocol]]\nname = \"a\"\nshare = 2"),
            "c.toml:5: 'share' must be a number from 1e-06 to 1; it is 2");
  EXPECT_EQ(error_of(device + "[[collectives.protocol]]\nname = \"a\"\nstep = \"200 s\""),
            "c.toml:5: 'step' must be at most 100 s; it is 200 s");
}

TEST(ClusterFile, IsNamedByItsFileIfByNothingElse) {
  EXPECT_EQ(parse_cluster("[[device]]\nname = \"a\"", "some/where/mine.toml").name(), "mine");
}

TEST(ClusterFile, PrintedReadsBackEqual) {
  std::vector<Cluster> clusters = {parse_cluster(kTwoBoxes, "c.toml")};
  for (const char* name : {"p100-2x2", "k80-2x3", "dgx1-p100", "h200-2x4", "cpu:3"}) {
    clusters.push_back(preset_cluster(name));
  }
  for (const Cluster& cluster : clusters) {
    const std::string text = print_cluster(cluster);
    const Cluster back = parse_cluster(text, "c.toml");
    EXPECT_EQ(back, cluster) << text;
    EXPECT_EQ(print_cluster(back), text);
  }
}

TEST(ClusterFile, SaysAllThatIsWrongAndWhere) {
  EXPECT_EQ(error_of("name = \"x\"\n"), "c.toml:1: a cluster needs at least one device");
  EXPECT_EQ(error_of("nmae = 1\n[[device]]\nname = 3\n[[device]]\nkind = \"p100\"\n[[switch]]\n"
                     "name = \"s\"\nports = 4\n[[link]]\nfrom = \"s\"\nto = \"a\"\n"
                     "bandwidth = \"12\"\n[[link]]\nfrom = \"s\"\n"),
            "c.toml:3: 'name' must be a string; it is 3\n"
            "c.toml:4: missing key 'name'\n"
            "c.toml:8: unknown key 'ports'; allowed: name\n"
            "c.toml:12: 'bandwidth': '12' is not a bandwidth; allowed: a positive number with B/s, "
            "kB/s, MB/s, GB/s, TB/s, PB/s, EB/s, KiB/s, MiB/s, GiB/s, TiB/s (bytes) or b/s, kb/s, "
            "Mb/s, Gb/s, Tb/s (bits), as in \"12.5 GB/s\"\n"
            "c.toml:13: missing key 'to'\n"
            "c.toml:1: unknown key 'nmae'; allowed: name, description, grid, device, switch, link, "
            "route, collectives");
  EXPECT_EQ(error_of("[[device]]\nname = \"a\"\n\n[[link]]\nfrom = \"a\"\nto = \"b\"\n"
                     "bandwidth = \"1 B/s\"\n"),
            "c.toml:4: no device or switch is named 'b'");
  EXPECT_EQ(error_of("[[device]]\nname = \"a\"\nspeed = -1"),
            "c.toml:1: device 'a': speed must be from 1e-09 to 1e+09; it is -1");
  EXPECT_EQ(error_of("[[device]]\nname = \"a\"\ncopy_engine = 1"),
            "c.toml:3: 'copy_engine' must be true or false; it is 1");
  EXPECT_EQ(error_of("device = 3"), "c.toml:1: 'device' must be a list of tables; it is 3");
}

TEST(ClusterFile, GridsAreChecked) {
  const std::string head = "[grid]\nhosts = 2\ndevices_per_host = 2\n";
  const std::string intra =
      "[grid.intra]\ntopology = \"switch\"\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n";
  const std::string inter =
      "[grid.inter]\ntopology = \"nic-per-host\"\nbandwidth = \"1 GB/s\"\nlatency = \"2 us\"\n";
  EXPECT_EQ(error_of(head + intra + inter), "");
  EXPECT_EQ(error_of(head + inter),
            "c.toml:1: [grid.intra] is missing: 2 devices of a host need a network");
  EXPECT_EQ(error_of(head + intra), "c.toml:1: [grid.inter] is missing: 2 hosts need a network");
  EXPECT_EQ(error_of("[grid]\nhosts = 0\n"),
            "c.toml:2: 'hosts' must be an integer from 1 to 16384; it is 0");
  EXPECT_EQ(error_of(head + intra + "[grid.inter]\ntopology = \"torus\"\n"),
            "c.toml:9: unknown topology \"torus\"; allowed: \"none\", \"nic-per-host\", "
            "\"nic-per-device\"");
  EXPECT_EQ(error_of(head + "[grid.intra]\ntopology = \"mesh\"\n"),
            "c.toml:5: unknown topology \"mesh\"; allowed: \"switch\", \"pcie\", \"all-to-all\", "
            "\"ring\", \"hybrid-cube-mesh\"");
  EXPECT_EQ(error_of(head + intra + "[grid.inter]\ntopology = \"none\"\n"),
            "c.toml:1: 2 hosts need [grid.inter] with another topology than \"none\"");
  EXPECT_EQ(error_of(head + intra + inter + "[[device]]\nname = \"x\"\n"),
            "c.toml:12: [[device]] does not go with [grid]");
  EXPECT_EQ(error_of(head + intra + "speed = 2\n" + inter),
            "c.toml:8: unknown key 'speed'; allowed: topology, bandwidth, latency");
}

TEST(ClusterFile, AGridSaysForAllItsDevicesWhoCopies) {
  const std::string grid = "[grid]\nhosts = 1\ndevices_per_host = 1\n";
  EXPECT_TRUE(parse_cluster(grid, "c.toml").devices()[0].copy_engine);
  EXPECT_TRUE(parse_cluster(grid + "copy_engine = true\n", "c.toml").devices()[0].copy_engine);
  EXPECT_FALSE(parse_cluster(grid + "copy_engine = false\n", "c.toml").devices()[0].copy_engine);
  EXPECT_TRUE(parse_cluster(grid + "assembles = true\n", "c.toml").devices()[0].assembles);
  EXPECT_EQ(error_of(grid + "copy_engine = \"no\"\n"),
            "c.toml:4: 'copy_engine' must be true or false; it is \"no\"");
}

TEST(ClusterFile, TheReferencesExamplesAreRead) {
  const std::string text = read_file(source_path("docs/clusters.md"));
  const std::string open = "```toml\n";
  int examples = 0;
  for (std::size_t at = 0; (at = text.find(open, at)) != std::string::npos; ++examples) {
    at += open.size();
    const std::string example = text.substr(at, text.find("```", at) - at);
    EXPECT_EQ(error_of(example), "") << example;
  }
  EXPECT_GE(examples, 3);
}

}  // namespace
}  // namespace strata
