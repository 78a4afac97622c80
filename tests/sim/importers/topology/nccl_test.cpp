#include <gtest/gtest.h>

#include "sim/cluster/cluster_file.h"
#include "tests/sim/importers/topology/imported.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

Cluster cluster_of(const std::string& file, std::int64_t hosts = 1) {
  ImportOptions options = of_kind("");
  options.hosts = hosts;
  return import_file(file, options).cluster;
}

// The hybrid cube mesh: GPU 0 has one NVLink to GPUs 1 and 2, two to GPUs 3 and 4, and none to the
// other three. NCCL counts on 20 GB/s of a link. Without one, data goes over PCI and the processors
// (a Broadwell: 6 GB/s), and not through another GPU, though that would be two links.
TEST(Nccl, Dgx1GoesByNvlinkWhereThereIsOne) {
  const Cluster dgx1 = cluster_of("dgx1.nccl.xml");
  EXPECT_EQ(way(dgx1, "gpu0", "gpu1"), "gpu0 gpu1: 20 GB/s, 0.6 us");
  EXPECT_EQ(way(dgx1, "gpu0", "gpu2"), "gpu0 gpu2: 20 GB/s, 0.6 us");
  EXPECT_EQ(way(dgx1, "gpu0", "gpu3"), "gpu0 gpu3: 40 GB/s, 0.6 us");
  EXPECT_EQ(way(dgx1, "gpu0", "gpu4"), "gpu0 gpu4: 40 GB/s, 0.6 us");
  EXPECT_EQ(way(dgx1, "gpu0", "gpu5"),
            "gpu0 pci-0000:03:00.0 numa0 numa1 pci-0000:82:00.0 gpu5: 6 GB/s, 1 us");
  EXPECT_EQ(way(dgx1, "gpu7", "gpu0"),
            "gpu7 pci-0000:87:00.0 numa1 numa0 pci-0000:03:00.0 gpu0: 6 GB/s, 1 us");
}

TEST(Nccl, EveryGpuOfADgx1HasSixNvlinks) {
  const Cluster dgx1 = cluster_of("dgx1.nccl.xml");
  ASSERT_EQ(dgx1.device_count(), 8U);
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
    double sum = 0;
    for (const Link& link : dgx1.links()) {
      if (link.from == gpu && link.kind == "nvlink") sum += link.bandwidth.value;
    }
    EXPECT_EQ(sum, 6 * 20e9) << gpu;
    EXPECT_EQ(dgx1.devices()[gpu].kind, "v100");
    EXPECT_FALSE(dgx1.devices()[gpu].forwards);
  }
}

// Twelve links a GPU: 240 GB/s. The two levels of each Broadcom switch are one.
TEST(Nccl, DgxA100GoesByNvswitch) {
  const Cluster dgx = cluster_of("dgx-a100.nccl.xml");
  for (const char* to : {"gpu1", "gpu2", "gpu7"}) {
    EXPECT_EQ(way(dgx, "gpu0", to), fmt::format("gpu0 nvswitch {}: 240 GB/s, 0.6 us", to));
  }
  EXPECT_EQ(dgx.devices()[0].kind, "a100");
}

// Two GPUs and two cards hang on each PCI switch: each GPU has a card of its own, 200 Gb/s.
TEST(Nccl, DgxA100SharesItsCardsOut) {
  const Cluster dgx = cluster_of("dgx-a100.nccl.xml", 2);
  EXPECT_EQ(way(dgx, "host0/gpu0", "host1/gpu0"),
            "host0/gpu0 host0/gpu0-port host0/mlx5_0-port host0/mlx5_0 network host1/mlx5_0 "
            "host1/mlx5_0-port host1/gpu0-port host1/gpu0: 24 GB/s, 2.7 us");
  EXPECT_EQ(way(dgx, "host0/gpu1", "host1/gpu6"),
            "host0/gpu1 host0/gpu1-port host0/mlx5_1-port host0/mlx5_1 network host1/mlx5_8 "
            "host1/mlx5_8-port host1/gpu6-port host1/gpu6: 24 GB/s, 2.7 us");
  EXPECT_EQ(way(dgx, "host1/gpu0", "host1/gpu3"),
            "host1/gpu0 host1/nvswitch host1/gpu3: 240 GB/s, 0.6 us");
}

// 18 links of 20.6 GB/s; between hosts a ConnectX-7 of 400 Gb/s behind a PCI 5 link of 48 GB/s.
TEST(Nccl, DgxH100) {
  const Cluster dgx = cluster_of("dgx-h100.nccl.xml", 4);
  EXPECT_EQ(dgx.device_count(), 32U);
  EXPECT_EQ(way(dgx, "host0/gpu0", "host0/gpu7"),
            "host0/gpu0 host0/nvswitch host0/gpu7: 370.8 GB/s, 0.6 us");
  EXPECT_EQ(way(dgx, "host0/gpu3", "host2/gpu3"),
            "host0/gpu3 host0/pci-0000:5d:00.0 host0/mlx5_3 network host2/mlx5_3 "
            "host2/pci-0000:5d:00.0 host2/gpu3: 48 GB/s, 2.7 us");
}

// PIX, PXB, PHB and SYS, of 16 lanes of PCI 3 and a Skylake's UPI.
TEST(Nccl, PcieBoxGoesByTheNearestBridge) {
  const Cluster box = cluster_of("pcie-box.nccl.xml");
  EXPECT_EQ(way(box, "gpu0", "gpu1"), "gpu0 pci-0000:03:00.0 gpu1: 12 GB/s, 1 us");
  EXPECT_EQ(way(box, "gpu0", "gpu2"),
            "gpu0 pci-0000:03:00.0 pci-0000:02:00.0 pci-0000:04:00.0 gpu2: 12 GB/s, 1 us");
  EXPECT_EQ(way(box, "gpu0", "gpu3"),
            "gpu0 pci-0000:03:00.0 pci-0000:02:00.0 numa0 gpu3: 12 GB/s, 1 us");
  EXPECT_EQ(way(box, "gpu1", "gpu5"),
            "gpu1 pci-0000:03:00.0 pci-0000:02:00.0 numa0 numa1 pci-0000:82:00.0 gpu5: 10 GB/s, "
            "1 us");
}

// Seven links inside, six over the network card: the way inside is written out.
TEST(Nccl, NothingInsideAHostGoesByTheNetwork) {
  const std::string text = R"(<system version="1">
<cpu numaid="0"><pci busid="a0" class="0x060400"><pci busid="a1" class="0x060400">
  <pci busid="g0" class="0x030200"><gpu dev="0" sm="60"/></pci></pci></pci>
  <pci busid="n0" class="0x020700"><nic><net name="ib0" speed="100000"/></nic></pci></cpu>
<cpu numaid="1"><pci busid="b0" class="0x060400"><pci busid="b1" class="0x060400">
  <pci busid="g1" class="0x030200"><gpu dev="1" sm="60"/></pci></pci></pci>
  <pci busid="n1" class="0x020700"><nic><net name="ib1" speed="100000"/></nic></pci></cpu>
</system>)";
  const Cluster cluster = import_text(text, of_kind("")).cluster;
  const char* inside = "gpu0 pci-a1 pci-a0 numa0 numa1 pci-b0 pci-b1 gpu1: 10 GB/s, 1 us";
  EXPECT_EQ(way(cluster, "gpu0", "gpu1"), inside);
}

TEST(Nccl, PowerReachesItsProcessorByNvlink) {
  const std::string text = R"(<system version="1">
<cpu numaid="0" arch="ppc64"><pci busid="4:4" class="0x030200" link_speed="8 GT/s" link_width="2">
  <gpu dev="0" sm="70"><nvlink target="4:5" count="3" tclass="0x030200"/>
    <nvlink target="0:1" count="3" tclass="0x068001"/></gpu></pci>
<pci busid="4:5" class="0x030200" link_speed="8 GT/s" link_width="2">
  <gpu dev="1" sm="70"><nvlink target="4:4" count="3" tclass="0x030200"/>
    <nvlink target="0:1" count="3" tclass="0x068001"/></gpu></pci></cpu>
<cpu numaid="8" arch="ppc64"><pci busid="35:3" class="0x030200" link_speed="8 GT/s" link_width="2">
  <gpu dev="2" sm="70"><nvlink target="0:1" count="3" tclass="0x068001"/></gpu></pci></cpu>
</system>)";
  const Cluster power = import_text(text, of_kind("")).cluster;
  EXPECT_EQ(way(power, "gpu0", "gpu1"), "gpu0 gpu1: 60 GB/s, 0.6 us");
  EXPECT_EQ(way(power, "gpu0", "gpu2"), "gpu0 numa0 numa8 gpu2: 32 GB/s, 0.6 us");
}

TEST(Nccl, WhatIsSaidBesideTheFileGoesFirst) {
  ImportOptions options = of_kind("p100");
  options.machine.nvlink = BytesPerSecond{1e9};
  options.machine.pcie = BytesPerSecond{2e9};
  options.machine.socket = BytesPerSecond{3e9};
  options.machine.network = BytesPerSecond{4e9};
  options.machine.latency = Seconds{9e-6};
  options.hosts = 2;
  const ImportedCluster imported = import_file("dgx1.nccl.xml", options);
  const Cluster& cluster = imported.cluster;
  EXPECT_EQ(imported.notes, std::vector<std::string>());
  EXPECT_EQ(cluster.devices()[0].kind, "p100");
  EXPECT_EQ(way(cluster, "host0/gpu0", "host0/gpu3"), "host0/gpu0 host0/gpu3: 2 GB/s, 0.6 us");
  EXPECT_EQ(cluster[cluster.find_link("host0/numa0>numa1")].bandwidth.value, 3e9);
  const Link& card = cluster[cluster.find_link("host0/mlx5_0>network")];
  EXPECT_EQ(card.bandwidth.value, 4e9);
  EXPECT_EQ(card.latency.value, 4.5e-6);
}

TEST(Nccl, SaysWhatItTookTheGpusFor) {
  EXPECT_EQ(import_file("dgx-h100.nccl.xml", of_kind("")).notes,
            (std::vector<std::string>{"dgx-h100.nccl.xml: GPUs of compute capability 9.0 are "
                                      "taken for kind 'h100'; `kind` says otherwise"}));
}

TEST(Nccl, WhatIsWrittenReadsBackEqual) {
  for (const char* file :
       {"dgx1.nccl.xml", "dgx-a100.nccl.xml", "dgx-h100.nccl.xml", "pcie-box.nccl.xml"}) {
    for (const std::int64_t hosts : {1, 2}) {
      const Cluster cluster = cluster_of(file, hosts);
      EXPECT_EQ(parse_cluster(print_cluster(cluster), "c.toml"), cluster) << file << " " << hosts;
    }
  }
}

// Entities that a file makes up would grow to gigabytes, or bring in other files, in a reader that
// follows them.
TEST(Nccl, EntitiesStayTheTextTheyAre) {
  const std::string text = R"(<!DOCTYPE system [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">
<!ENTITY secret SYSTEM "file:///etc/hostname">]>
<system version="1"><cpu numaid="0"><pci busid="1" class="0x030200">
<gpu dev="0" sm="60">&b;&secret;</gpu></pci><pci busid="2" class="0x020700">
<nic><net name="&secret;" speed="1000"/></nic></pci></cpu></system>)";
  const Cluster cluster = import_text(text, of_kind("")).cluster;
  ASSERT_EQ(cluster.switches().size(), 3U);
  EXPECT_EQ(cluster.switches()[0], "network");
  EXPECT_EQ(cluster.switches()[2], "&secret;");
}

TEST(Nccl, SaysWhereAnElementIsWrong) {
  const auto error = [](const std::string& inside) {
    return said([&] {
      import_text("<system version=\"1\">\n<cpu numaid=\"0\">\n" + inside + "\n</cpu>\n</system>",
                  of_kind(""));
    });
  };
  EXPECT_EQ(error("<pci busid=\"1\" class=\"0x030200\"><gpu dev=\"0\" sm=\"70\">\n"
                  "<nvlink target=\"9\" count=\"1\" tclass=\"0x030200\"/></gpu></pci>"),
            "a:4: <nvlink>: no GPU has busid=\"9\"");
  EXPECT_EQ(error("<pci busid=\"1\" class=\"0x030200\" link_speed=\"9 GT/s\"/>"),
            "a:3: <pci>: link_speed=\"9 GT/s\"; allowed: 2.5, 5, 8, 16, 32 or 64 GT/s");
  EXPECT_EQ(error(""), "a:1: <system>: there is no <gpu> in any <pci>");
}

}  // namespace
}  // namespace strata
