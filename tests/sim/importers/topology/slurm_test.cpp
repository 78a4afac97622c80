#include <gmock/gmock.h>

#include "sim/cluster/cluster_file.h"
#include "sim/cluster/presets.h"
#include "sim/importers/topology/hostlist.h"
#include "tests/sim/importers/topology/imported.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

using testing::ElementsAre;

TEST(Hostlist, ExpandsRangesAndKeepsZeros) {
  EXPECT_THAT(expand_hosts("n[1-3,7]", 9), ElementsAre("n1", "n2", "n3", "n7"));
  EXPECT_THAT(expand_hosts("a,b[08-10]-ib", 9), ElementsAre("a", "b08-ib", "b09-ib", "b10-ib"));
  EXPECT_THAT(expand_hosts("r[0-1]n[1-2]", 9), ElementsAre("r0n1", "r0n2", "r1n1", "r1n2"));
}

TEST(Hostlist, RefusesWhatIsNoList) {
  const std::string allowed = "; allowed: n1,n[2-4,7],rack[0-1]n[01-16]";
  const auto error = [](std::string_view list) { return said([&] { expand_hosts(list, 100); }); };
  EXPECT_EQ(error("n[1-2"), "'n[1-2': brackets do not match" + allowed);
  EXPECT_EQ(error("n[2-1]"), "'n[2-1]': '2-1' runs backwards" + allowed);
  EXPECT_EQ(error("n[]"), "'n[]': '' is no number" + allowed);
  EXPECT_EQ(error("a,,b"), "'a,,b': a name is empty" + allowed);
  EXPECT_EQ(error("n[0-999999999]"), "'n[0-999999999]': it names more than 100 hosts" + allowed);
  EXPECT_EQ(error("n[0-99][0-9]"), "'n[0-99][0-9]': it names more than 100 hosts" + allowed);
}

// Two leaves of two hosts each below one switch.
constexpr const char* kTree =
    "# two levels\nSwitchName=leaf0 Nodes=n[0-1] LinkSpeed=100\n"
    "switchname=leaf1 nodes=n[2-3]\nSwitchName=top \\\n  Switches=leaf[0-1]\n";

ImportOptions with_node(const std::string& node, double bandwidth) {
  ImportOptions options = of_kind("");
  options.node = node;
  if (bandwidth > 0) options.machine.network = BytesPerSecond{bandwidth};
  return options;
}

// A host of p100-1x4 has NVLinks from GPU to GPU and no network, so its GPUs share a card. The way
// up from a leaf carries what its two hosts can send.
TEST(Slurm, TwoLevelsOfSwitches) {
  const Cluster cluster = import_text(kTree, with_node("p100-1x4", 12.5e9)).cluster;
  ASSERT_EQ(cluster.device_count(), 16U);
  EXPECT_EQ(cluster.devices()[5], (Device{"n1/gpu1", "p100", "n1", 1}));
  EXPECT_EQ(way(cluster, "n0/gpu0", "n0/gpu3"), "n0/gpu0 n0/gpu3: 20 GB/s, 0.6 us");
  EXPECT_EQ(way(cluster, "n0/gpu0", "n1/gpu3"),
            "n0/gpu0 n0/nic leaf0 n1/nic n1/gpu3: 12.5 GB/s, 2.7 us");
  EXPECT_EQ(way(cluster, "n0/gpu0", "n3/gpu0"),
            "n0/gpu0 n0/nic leaf0 top leaf1 n3/nic n3/gpu0: 12.5 GB/s, 2.7 us");
  EXPECT_EQ(cluster[cluster.find_link("leaf0>top")].bandwidth.value, 25e9);
}

TEST(Slurm, UplinksAndLatenciesAsTheyAreSaid) {
  ImportOptions options = with_node("p100-1x4", 12.5e9);
  options.uplink = BytesPerSecond{10e9};
  options.machine.latency = Seconds{5e-6};
  const Cluster cluster = import_text(kTree, options).cluster;
  EXPECT_EQ(way(cluster, "n0/gpu0", "n2/gpu0"),
            "n0/gpu0 n0/nic leaf0 top leaf1 n2/nic n2/gpu0: 10 GB/s, 5 us");
}

// GPUs of a ring reach the one across by two NVLinks, and would by the host's card, too: what is
// inside a host stays there.
TEST(Slurm, HostsKeepTheirOwnRoutes) {
  const std::string file = testing::TempDir() + "strata_ring_node.toml";
  write_file_whole(file,
                   "[grid]\nhosts = 1\ndevices_per_host = 6\nkind = \"p100\"\n[grid.intra]\n"
                   "topology = \"ring\"\nbandwidth = \"20 GB/s\"\nlatency = \"1 us\"\n");
  const Cluster cluster = import_text(kTree, with_node(file, 12.5e9)).cluster;
  EXPECT_EQ(way(cluster, "n2/gpu0", "n2/gpu3"), "n2/gpu0 n2/gpu1 n2/gpu2 n2/gpu3: 20 GB/s, 3 us");
  EXPECT_EQ(parse_cluster(print_cluster(cluster), "c.toml"), cluster);
}

// An imported host has its cards already: their links end at the leaf.
TEST(Slurm, AnImportedHostBringsItsCards) {
  const std::string file = testing::TempDir() + "strata_dgx_node.toml";
  write_file_whole(file, print_cluster(import_file("dgx-h100.nccl.xml", of_kind("")).cluster));
  const Cluster cluster = import_text(kTree, with_node(file, 0)).cluster;
  EXPECT_EQ(way(cluster, "n0/gpu3", "n3/gpu3"),
            "n0/gpu3 n0/pci-0000:5d:00.0 n0/mlx5_3 leaf0 top leaf1 n3/mlx5_3 "
            "n3/pci-0000:5d:00.0 n3/gpu3: 48 GB/s, 2.7 us");
  EXPECT_EQ(cluster[cluster.find_link("leaf0>top")].bandwidth.value, 2 * 8 * 50e9);
}

// Its four hosts would all become the one that the switch names.
TEST(Slurm, TheNodeIsOneHost) {
  EXPECT_EQ(said([&] { import_text(kTree, with_node("p100-4x4", 1e9)); }),
            "p100-4x4: a cluster of 4 hosts; allowed: of one, since `node` describes each host");
}

TEST(Slurm, SaysWhatIsNoTree) {
  const auto error = [](const std::string& text) {
    return said([&] { import_text(text, with_node("p100-1x4", 1e9)); });
  };
  EXPECT_EQ(error("SwitchName=a Switches=b\nSwitchName=b Switches=a\nSwitchName=c Nodes=n1\n"),
            "a:1: switch 'a' is below itself, or below more than 64 others; allowed: a tree");
  EXPECT_EQ(error("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n"),
            "a:2: 'a' and 'b' are both at the top; allowed: one switch above all others");
  EXPECT_EQ(error("SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n2\nSwitchName=c "
                  "Switches=a,b\n"),
            "a:2: host 'n2' is there twice");
}

}  // namespace
}  // namespace strata
