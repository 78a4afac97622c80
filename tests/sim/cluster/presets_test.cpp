#include "sim/cluster/presets.h"

#include <gtest/gtest.h>

#include "sim/cluster/named_size.h"
#include "tests/sim/cluster/drawing.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

TEST(Presets, AllCanBeBuilt) {
  std::string patterns;
  for (const Preset& preset : presets()) {
    patterns += preset.pattern + " ";
    EXPECT_EQ(preset_cluster(preset.example).name(), preset.example);
    EXPECT_NE(preset.description, "");
  }
  EXPECT_EQ(patterns,
            "p100-HxD k80-HxD dgx1-p100[-H] v100-HxD a100-HxD h100-HxD h200-HxD h800-HxD h20-HxD "
            "b200-HxD gb200-RxNVLD gb300-RxNVLD l40s-HxD rtx4090-HxD mi300x-HxD cpu:N ");
}

// Section 6 of the paper: 4 nodes, 4 P100 each on NVLink, one 100 Gb/s NIC a node.
TEST(Presets, ThePapersCluster) {
  const Cluster cluster = load_cluster("p100-4x4");
  EXPECT_EQ(cluster.device_count(), 16U);
  EXPECT_EQ(cluster.devices()[5], (Device{"gpu5", "p100", "host1", 1}));
  EXPECT_EQ(route_names(cluster, 0, 3), "host0/gpu0>gpu3");
  EXPECT_EQ(cluster[cluster.find_link("host0/gpu0>gpu3")].bandwidth.value, 20e9);
  EXPECT_EQ(cluster[cluster.find_link("host3/nic>core")].bandwidth.value, 12.5e9);
  EXPECT_DOUBLE_EQ(cluster.latency(DeviceId(0), DeviceId(15)).value, 2.7e-6);
  // 12 NVLink directions, 8 ways to and from the NIC and 2 to and from the core, for each host.
  EXPECT_EQ(cluster.links().size(), 4U * (12 + 8 + 2));
}

// Data sheets: 300, 600, 900 and 1800 GB/s of NVLink, both ways together; EDR, a port for two GPUs;
// HDR and NDR, a port a GPU.
TEST(Presets, NvswitchMachinesCarryWhatTheirDataSheetsSay) {
  const auto bandwidth = [](const char* name, const char* link) {
    const Cluster cluster = load_cluster(name);
    return cluster[cluster.find_link(link)].bandwidth.value;
  };
  EXPECT_EQ(bandwidth("v100-2x8", "host0/gpu0>switch"), 150e9);
  EXPECT_EQ(bandwidth("v100-2x8", "host0/gpu0-nic>core"), 6.25e9);
  EXPECT_EQ(bandwidth("a100-2x8", "host0/gpu0>switch"), 300e9);
  EXPECT_EQ(bandwidth("h100-2x8", "host0/gpu0>switch"), 450e9);
  EXPECT_EQ(bandwidth("h200-2x8", "host0/gpu0>switch"), 450e9);
  EXPECT_EQ(bandwidth("b200-2x8", "host0/gpu0>switch"), 900e9);
  EXPECT_EQ(bandwidth("h800-2x8", "host0/gpu0>switch"), 200e9);
  EXPECT_EQ(bandwidth("h20-2x8", "host0/gpu0>switch"), 450e9);
  EXPECT_EQ(bandwidth("mi300x-2x8", "host0/gpu0>gpu7"), 64e9);
  EXPECT_EQ(bandwidth("a100-2x8", "host0/gpu0-nic>core"), 25e9);
  EXPECT_EQ(bandwidth("h100-2x8", "host0/gpu0-nic>core"), 50e9);
  EXPECT_EQ(bandwidth("b200-2x8", "host1/gpu8-nic>core"), 50e9);
}

TEST(Presets, SizesAreTheNames) {
  EXPECT_EQ(load_cluster("p100-1x1").links().size(), 0U);
  EXPECT_EQ(load_cluster("k80-1x8").links().size(), 16U);
  EXPECT_EQ(load_cluster("dgx1-p100").device_count(), 8U);
  EXPECT_EQ(load_cluster("dgx1-p100-2").device_count(), 16U);
  const Cluster big = load_cluster("h200-128x8");
  EXPECT_EQ(big.device_count(), 1024U);
  EXPECT_EQ(route_names(big, 0, 1023),
            "host0/gpu0>nic host0/gpu0-nic>core core>host127/gpu1023-nic host127/nic>gpu1023");
  EXPECT_EQ(route_names(big, 0, 7), "host0/gpu0>switch host0/switch>gpu7");
}

// Trays are the hosts, racks the domains of NVLink, of which some GPUs may be left out.
TEST(Presets, RacksAreOneDomainOfManyHosts) {
  const Cluster racks = load_cluster("gb200-2xNVL72");
  EXPECT_EQ(racks.device_count(), 144U);
  EXPECT_EQ(racks.host_count(), 36U);
  const Device& device = racks.devices()[77];
  EXPECT_EQ(device.host, "tray19");
  EXPECT_EQ(device.domain, "rack1");
  EXPECT_EQ(route_names(racks, 0, 71), "rack0/gpu0>switch rack0/switch>gpu71");
  EXPECT_EQ(route_names(racks, 0, 72),
            "rack0/gpu0>nic rack0/gpu0-nic>core core>rack1/gpu72-nic rack1/nic>gpu72");
  EXPECT_EQ(racks[racks.find_link("rack0/gpu0>switch")].bandwidth.value, 900e9);
  EXPECT_EQ(racks[racks.find_link("rack0/gpu0-nic>core")].bandwidth.value, 50e9);
  const Cluster gb300 = load_cluster("gb300-2xNVL8");
  EXPECT_EQ(gb300[gb300.find_link("rack0/gpu0-nic>core")].bandwidth.value, 100e9);
  EXPECT_EQ(gb300.host_count(), 4U);
  EXPECT_EQ(load_cluster("gb200-3xNVL6").host_count(), 6U);
  EXPECT_EQ(load_cluster("gb200-3xNVL2").host_count(), 3U);
}

TEST(Presets, RefusesOtherNames) {
  const auto error = [](const std::string& name) { return said([&] { load_cluster(name); }); };
  for (const char* name : {"",           "p100",       "p100-4",    "p100-4x",   "p100-x4",
                           "p100--1x4",  "p100-4x4x4", "p100-4x4 ", "t4-4x4",    "dgx1-p100-2x8",
                           "dgx1-p100-", "p100-+4x4",  "cpu",       "cpu:",      "cpu:-1",
                           "cpu:2x2",    "cpu-2",      "gb200",     "gb200-2x8", "gb200-2xNVL"}) {
    EXPECT_EQ(error(name), "unknown cluster '" + std::string(name) +
                               "'; allowed: p100-HxD, k80-HxD, dgx1-p100[-H], v100-HxD, a100-HxD, "
                               "h100-HxD, h200-HxD, h800-HxD, h20-HxD, b200-HxD, gb200-RxNVLD, "
                               "gb300-RxNVLD, l40s-HxD, rtx4090-HxD, mi300x-HxD, cpu:N, or a file "
                               "ending in .toml (H hosts or R racks of D devices; N devices)");
  }
  for (const char* name : {"p100-0x4", "p100-4x0", "p100-16385x1", "p100-4097x4", "dgx1-p100-2049",
                           "p100-99999999999999999999x4"}) {
    EXPECT_EQ(error(name), "cluster '" + std::string(name) +
                               "': hosts and devices must be at least 1, and their product at most "
                               "16384");
  }
  EXPECT_EQ(error("gb200-0xNVL72"),
            "cluster 'gb200-0xNVL72': racks and devices must be at least 1, and their product at "
            "most 16384");
  EXPECT_EQ(error("gb200-1xNVL73"),
            "cluster 'gb200-1xNVL73': a rack's NVLink joins at most 72 devices");
  for (const char* name : {"cpu:0", "cpu:257", "cpu:4294967297", "cpu:99999999999999999999"}) {
    EXPECT_EQ(error(name), "cluster '" + std::string(name) + "': devices must be from 1 to 256");
  }
  EXPECT_EQ(error("nowhere/c.toml"), "nowhere/c.toml: cannot be read: No such file or directory");
}

TEST(NamedSize, IsReadFromThePresetsName) {
  EXPECT_EQ(named_size("p100-4x8"), (NamedSize{"p100", 4, 8}));
  EXPECT_EQ(named_size("gb200-2xNVL72"), (NamedSize{"gb200", 2, 72, true}));
  EXPECT_EQ(named_size("dgx1-p100"), (NamedSize{"dgx1-p100", 1, std::nullopt}));
  EXPECT_EQ(named_size("dgx1-p100-2"), (NamedSize{"dgx1-p100", 2, std::nullopt}));
  EXPECT_EQ(named_size("cpu:4"), (NamedSize{"cpu", std::nullopt, 4}));
  EXPECT_EQ(named_size("my-4x4.toml"), std::nullopt);
  for (const char* name : {"p100-4x8", "gb200-2xNVL72", "dgx1-p100", "dgx1-p100-2", "cpu:4"}) {
    EXPECT_EQ(named_size(name)->name(), name);
  }
}

}  // namespace
}  // namespace strata
