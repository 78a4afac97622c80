// What the formats have in common: which one a text is, and several hosts of one machine.

#include <gtest/gtest.h>

#include "tests/sim/importers/topology/imported.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

TEST(Topology, TellsTheFormatsApart) {
  ImportOptions options = of_kind("p100");
  options.machine.network = BytesPerSecond{1e9};
  EXPECT_EQ(import_file("pcie-box.nccl.xml", options).cluster.device_count(), 6U);
  EXPECT_EQ(import_file("pcie-box.smi.txt", options).cluster.device_count(), 6U);
  EXPECT_EQ(import_file("gpus.hwloc.xml", options).cluster.device_count(), 3U);
  options.machine.kind.clear();
  options.node = "p100-1x4";
  EXPECT_EQ(import_text("SwitchName=a Nodes=n[1-2]", options).cluster.device_count(), 8U);
}

TEST(Topology, RefusesTheFormatThatTheTextIsNot) {
  ImportOptions options = of_kind("p100");
  options.format = TopologyFormat::hwloc;
  EXPECT_EQ(said([&] { import_file("pcie-box.nccl.xml", options); }),
            "pcie-box.nccl.xml:1: <system>: <topology> is due here");
}

// What a format does not read would be dropped without a word.
TEST(Topology, RefusesOptionsThatSayNothingToTheFormat) {
  const auto error = [](const std::string& file, auto set) {
    ImportOptions options = of_kind("");
    set(options);
    return said([&] {
      file.empty() ? import_text("SwitchName=a Nodes=n1", options) : import_file(file, options);
    });
  };
  EXPECT_EQ(error("gpus.hwloc.xml", [](auto& o) { o.machine.nvlink = BytesPerSecond{1e9}; }),
            "gpus.hwloc.xml: `nvlink` says nothing to the format hwloc; allowed with: nccl, smi");
  EXPECT_EQ(error("dgx1.nccl.xml", [](auto& o) { o.node = "none"; }),
            "dgx1.nccl.xml: `node` says nothing to the format nccl; allowed with: slurm");
  EXPECT_EQ(error("dgx1.smi.txt", [](auto& o) { o.uplink = BytesPerSecond{1e9}; }),
            "dgx1.smi.txt: `uplink` says nothing to the format smi; allowed with: slurm");
  const std::string of_machines = " says nothing to the format slurm; allowed with: nccl, smi";
  const auto node = [&](auto set) {
    return error("", [&](ImportOptions& options) {
      options.node = "p100-1x4";
      options.machine.network = BytesPerSecond{1e9};
      set(options);
    });
  };
  EXPECT_EQ(node([](auto& o) { o.hosts = 3; }), "a: `hosts`" + of_machines + ", hwloc");
  EXPECT_EQ(node([](auto& o) { o.machine.kind = "v100"; }), "a: `kind`" + of_machines + ", hwloc");
  EXPECT_EQ(node([](auto& o) { o.machine.pcie = BytesPerSecond{1e9}; }),
            "a: `pcie`" + of_machines + ", hwloc");
  EXPECT_EQ(node([](auto& o) { o.machine.socket = BytesPerSecond{1e9}; }),
            "a: `socket`" + of_machines + ", hwloc");
  EXPECT_EQ(node([](auto& o) { o.machine.nvlink = BytesPerSecond{1e9}; }),
            "a: `nvlink`" + of_machines);
}

TEST(Topology, SeveralFilesAreSeveralHosts) {
  const std::vector<TopologySource> sources = {{"a", read_file(topology_path("pcie-box.nccl.xml"))},
                                               {"b", read_file(topology_path("dgx1.nccl.xml"))}};
  const Cluster cluster = import_cluster(sources, of_kind("")).cluster;
  EXPECT_EQ(cluster.device_count(), 14U);
  EXPECT_EQ(cluster.devices()[6].name, "host1/gpu0");
  EXPECT_EQ(way(cluster, "host0/gpu3", "host1/gpu7"),
            "host0/gpu3 host0/numa0 host0/mlx5_0 network host1/mlx5_3 "
            "host1/pci-0000:87:00.0 host1/gpu7: 12 GB/s, 2.7 us");
}

TEST(Topology, HostsNeedCards) {
  ImportOptions options = of_kind("p100");
  options.hosts = 2;
  EXPECT_EQ(said([&] { import_file("pcie-box.smi.txt", options); }),
            "pcie-box.smi.txt: no network card of known speed joins the hosts; `bandwidth` says "
            "how fast they are");
}

// Every route of a cluster of many hosts keeps to what the machines are wired for.
TEST(Topology, ManyHostsKeepInsideWhatIsInside) {
  ImportOptions options = of_kind("");
  options.hosts = 16;
  const Cluster cluster = import_file("dgx1.nccl.xml", options).cluster;
  for (std::size_t a = 0; a < cluster.device_count(); ++a) {
    for (std::size_t b = 0; b < cluster.device_count(); ++b) {
      if (a == b) continue;
      std::size_t cards = 0;
      for (const LinkId link : cluster.route(DeviceId(a), DeviceId(b))) {
        cards += cluster[link].kind == "inter";
      }
      ASSERT_EQ(cards, a / 8 == b / 8 ? 0U : 2U) << a << " to " << b;
    }
  }
}

}  // namespace
}  // namespace strata
