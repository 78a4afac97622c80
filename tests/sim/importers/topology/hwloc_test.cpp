#include <gtest/gtest.h>

#include "sim/cluster/cluster_file.h"
#include "tests/sim/importers/topology/imported.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

// A machine without a GPU (what draws its console is none): cores, as those of cpu:N, and between
// the sockets the nominal 10 GB/s.
TEST(Hwloc, TwoSocketsOfCores) {
  const ImportedCluster imported = import_file("two-sockets.hwloc.xml", of_kind(""));
  const Cluster& cluster = imported.cluster;
  ASSERT_EQ(cluster.device_count(), 4U);
  EXPECT_EQ(cluster.devices()[3], (Device{"cpu3", "cpu", "host0", 1, false, false, false}));
  EXPECT_EQ(way(cluster, "cpu0", "cpu1"), "cpu0 cpu1: 10 GB/s, 1 us");
  EXPECT_EQ(way(cluster, "cpu0", "cpu2"), "cpu0 package0 package1 cpu2: 10 GB/s, 1 us");
  EXPECT_EQ(imported.notes.front(),
            "two-sockets.hwloc.xml: there is no GPU: its 4 cores are the devices");
}

TEST(Hwloc, TheLinkBetweenSocketsLimits) {
  ImportOptions options = of_kind("");
  options.machine.socket = BytesPerSecond{5e9};
  const Cluster cluster = import_file("two-sockets.hwloc.xml", options).cluster;
  EXPECT_EQ(way(cluster, "cpu1", "cpu3"), "cpu1 package0 package1 cpu3: 5 GB/s, 1 us");
  EXPECT_EQ(way(cluster, "cpu2", "cpu3"), "cpu2 cpu3: 10 GB/s, 1 us");
}

// The bridges of a switch with one device each belong to that device's way; GPU 1 has 8 lanes.
// GPUs 0 and 2 have two NVLinks of 20 GB/s each, says NVML.
TEST(Hwloc, GpusBehindASwitch) {
  ImportOptions options = of_kind("");
  options.machine.network = BytesPerSecond{12.5e9};
  const ImportedCluster imported = import_file("gpus.hwloc.xml", options);
  const Cluster& cluster = imported.cluster;
  EXPECT_EQ(cluster.devices()[2].kind, "p100");
  EXPECT_EQ(way(cluster, "gpu0", "gpu1"), "gpu0 pci-0000:01:00.0 gpu1: 6 GB/s, 1 us");
  EXPECT_EQ(way(cluster, "gpu1", "gpu2"),
            "gpu1 pci-0000:01:00.0 package0 package1 gpu2: 6 GB/s, 1 us");
  EXPECT_EQ(way(cluster, "gpu0", "gpu2"), "gpu0 gpu2: 40 GB/s, 0.6 us");
  EXPECT_TRUE(cluster.find_link("mlx5_0>network").valid());
  EXPECT_EQ(imported.notes, (std::vector<std::string>{
                                "gpus.hwloc.xml: PCI links of unknown speed (1) are taken for "
                                "16 lanes of generation 3; `pcie` says otherwise"}));
}

TEST(Hwloc, ACardThatServesAllIsAddedWhereThereIsNone) {
  ImportOptions options = of_kind("");
  options.machine.network = BytesPerSecond{1.25e9};
  options.hosts = 2;
  std::string text = read_file(topology_path("gpus.hwloc.xml"));
  const std::size_t card = text.find("<object type=\"PCIDev\" gp_index=\"46\"");
  text.erase(card, text.find("</object>", card) + 9 - card);
  const Cluster cluster = import_text(text, options).cluster;
  EXPECT_EQ(way(cluster, "host0/gpu0", "host1/gpu2"),
            "host0/gpu0 host0/nic network host1/nic host1/gpu2: 1.25 GB/s, 2.7 us");
  EXPECT_EQ(way(cluster, "host0/gpu1", "host0/gpu2"),
            "host0/gpu1 host0/pci-0000:01:00.0 host0/package0 host0/package1 host0/gpu2: "
            "6 GB/s, 1 us");
}

TEST(Hwloc, VersionOneHangsBridgesOnTheNode) {
  const std::string text = R"(<topology><object type="Machine">
<object type="NUMANode"><object type="Socket"><object type="Core"/></object></object>
<object type="NUMANode"><object type="Socket"><object type="Core"/></object>
  <object type="Bridge" bridge_type="0-1"><object type="PCIDev" pci_type="0302 [10de:15f8]"
    pci_link_speed="15.754"/></object></object></object></topology>)";
  const Cluster cluster = import_text(text, of_kind("p100")).cluster;
  EXPECT_TRUE(cluster.find_link("gpu0>package1").valid());
  EXPECT_EQ(said([&] { import_text(text, of_kind("")); }),
            "a:4: <object>: hwloc doesn't say what this GPU is; `kind` says it (v100, a100, ...)");
}

// Two GPUs below one package, an NVSwitch beside them; `distances` stands after the machine. The
// indexes are hwloc's: each GPU's PCI device and what NVML makes of it have one.
std::string with_distances(const std::string& distances) {
  const auto gpu = [](int index) {
    return fmt::format(
        R"(<object type="PCIDev" gp_index="{}0" pci_type="0302 [10de:20b0]" pci_link_speed="31.5">
  <object type="OSDev" gp_index="{}1" name="nvml{}" osdev_type="1">
    <info name="GPUModel" value="NVIDIA A100-SXM4-40GB"/></object></object>)",
        index, index, index - 2);
  };
  return R"(<topology version="2.0"><object type="Machine" gp_index="1">
<object type="Package" gp_index="2"><object type="Core" gp_index="3"/>
<object type="Bridge" gp_index="10" bridge_type="0-1">)" +
         gpu(2) + gpu(3) + R"(<object type="PCIDev" gp_index="40" pci_type="0680 [10de:1af1]"/>
</object></object></object>)" +
         distances + "</topology>";
}

std::string mixed(const std::string& indexes, const std::string& values) {
  return fmt::format(R"(<distances2hetero nbobjs="3" kind="34" name="NVLinkBandwidth">
<indexes length="30">{}</indexes><u64values length="30">{}</u64values></distances2hetero>)",
                     indexes, values);
}

// 12 NVLinks of 25 GB/s from each GPU to the NVSwitch, which is a PCI device of its own.
TEST(Hwloc, NvSwitchesStandInAMatrixOfMixedTypes) {
  const ImportedCluster imported =
      import_text(with_distances(mixed("OSDev:21 OSDev:31 PCIDev:40 ",
                                       "0 0 300000 0 0 300000 300000 300000 0 ")),
                  of_kind(""));
  EXPECT_EQ(way(imported.cluster, "gpu0", "gpu1"), "gpu0 nvswitch gpu1: 300 GB/s, 0.6 us");
  EXPECT_EQ(imported.notes, std::vector<std::string>());
}

// As on POWER: 75 GB/s to the processor, which is no switch between the GPUs.
TEST(Hwloc, NvLinksToAProcessorEndThere) {
  const ImportedCluster imported =
      import_text(with_distances(mixed("OSDev:21 OSDev:31 Package:2",
                                       "0 50000 75000 50000 0 75000 75000 75000 0")),
                  of_kind(""));
  const Cluster& cluster = imported.cluster;
  EXPECT_EQ(way(cluster, "gpu0", "gpu1"), "gpu0 gpu1: 50 GB/s, 0.6 us");
  EXPECT_EQ(cluster.switches().size(), 1U);
  const LinkId link = cluster.find_link("gpu1>package0#2");
  EXPECT_EQ(cluster[link].kind, "nvlink");
  EXPECT_EQ(cluster[link].bandwidth.value, 75e9);
}

TEST(Hwloc, SaysWhereNoNvLinkIsKnown) {
  EXPECT_EQ(import_text(with_distances(""), of_kind("")).notes,
            (std::vector<std::string>{
                "a: no NVLink is known: hwloc tells them only where it was built with NVML"}));
  EXPECT_EQ(import_text(with_distances(mixed("OSDev:21 OSDev:99", "0 5 5 0")), of_kind("")).notes,
            (std::vector<std::string>{"a: NVLinks are left out where they end at what is neither "
                                      "GPU, processor nor NVSwitch (1)"}));
}

TEST(Hwloc, WhatIsWrittenReadsBackEqual) {
  for (const char* file : {"two-sockets.hwloc.xml", "gpus.hwloc.xml"}) {
    const Cluster cluster = import_file(file, of_kind("")).cluster;
    EXPECT_EQ(parse_cluster(print_cluster(cluster), "c.toml"), cluster) << file;
  }
}

}  // namespace
}  // namespace strata
