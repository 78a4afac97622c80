#include "sim/cluster/cpu_cluster.h"

#include <gtest/gtest.h>

#include "sim/cluster/presets.h"
#include "sim/cluster/what_if.h"
#include "tests/sim/cluster/drawing.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

Device core(const char* name, double speed) {
  return {.name = name,
          .kind = "cpu",
          .host = "localhost",
          .speed = speed,
          .copy_engine = false,
          .channel_block = kCpuChannelBlock};
}

TEST(CpuCluster, JoinsEveryTwoCores) {
  const Cluster cluster = cpu_cluster(3, BytesPerSecond{20e9}, Seconds{2e-6});
  EXPECT_EQ(cluster.name(), "cpu:3");
  EXPECT_EQ(cluster.devices()[2], (core("cpu2", 1)));
  EXPECT_EQ(link_lines(cluster),
            "cpu0>cpu1: cpu0 -> cpu1, 20 GB/s, 2 us, intra\n"
            "cpu0>cpu2: cpu0 -> cpu2, 20 GB/s, 2 us, intra\n"
            "cpu1>cpu0: cpu1 -> cpu0, 20 GB/s, 2 us, intra\n"
            "cpu1>cpu2: cpu1 -> cpu2, 20 GB/s, 2 us, intra\n"
            "cpu2>cpu0: cpu2 -> cpu0, 20 GB/s, 2 us, intra\n"
            "cpu2>cpu1: cpu2 -> cpu1, 20 GB/s, 2 us, intra\n");
  EXPECT_EQ(route_names(cluster, 2, 0), "cpu2>cpu0");
}

TEST(CpuCluster, IsKnownByItsName) {
  EXPECT_EQ(load_cluster("cpu:4"), cpu_cluster(4));
  EXPECT_EQ(load_cluster("cpu:1").links().size(), 0U);
  EXPECT_EQ(load_cluster("cpu:256").device_count(), 256U);
  const Link link = load_cluster("cpu:2").links()[0];
  EXPECT_EQ(link.bandwidth, kCpuCopyBandwidth);
  EXPECT_EQ(link.latency, kCpuCopyLatency);
}

TEST(CpuCluster, HasNoCopyEnginesWhateverElseIsChanged) {
  const Cluster slow = with_device_speed(load_cluster("cpu:2"), "cpu1", 0.5);
  EXPECT_EQ(slow.devices()[0], (core("cpu0", 1)));
  EXPECT_EQ(slow.devices()[1], (core("cpu1", 0.5)));
  const Cluster fast = with_link_bandwidth(slow, "intra", Multiple{2});
  EXPECT_EQ(fast.links()[1].bandwidth.value, 20e9);
  EXPECT_FALSE(fast.devices()[1].copy_engine);
}

TEST(CpuCluster, RefusesOtherSizes) {
  EXPECT_EQ(said([] { cpu_cluster(0); }), "cluster 'cpu:0': devices must be from 1 to 256");
  EXPECT_EQ(said([] { cpu_cluster(257); }), "cluster 'cpu:257': devices must be from 1 to 256");
}

}  // namespace
}  // namespace strata
