#include "sim/cluster/gpu_cluster.h"

#include <vector>

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(GpuCluster, DevicesOfOneGpuAreJoinedByItsMemory) {
  const std::vector<GpuDevice> devices = {
      {0, "cuda0.0", "h200"}, {0, "cuda0.1", "h200"}, {1, "cuda1", "h200"}};
  const Cluster cluster = gpu_cluster("cuda:0/2,1", devices);
  EXPECT_EQ(cluster.name(), "cuda:0/2,1");
  ASSERT_EQ(cluster.device_count(), 3);
  EXPECT_FALSE(cluster[DeviceId(0)].copy_engine);
  EXPECT_TRUE(cluster[DeviceId(2)].copy_engine);  // nobody shares its GPU
  EXPECT_TRUE(cluster[DeviceId(2)].assembles);
  EXPECT_EQ(cluster[DeviceId(1)].kind, "h200");
  ASSERT_EQ(cluster.links().size(), 6);  // two ways between any two
  int within = 0;
  for (const Link& link : cluster.links()) {
    const bool shared = link.from != 2 && link.to != 2;
    within += shared ? 1 : 0;
    EXPECT_EQ(link.kind, shared ? "intra" : "inter");
    EXPECT_EQ(link.bandwidth, shared ? kSharedGpuBandwidth : kBetweenGpusBandwidth);
  }
  EXPECT_EQ(within, 2);
}

// GPU 0 of one host is not that of another.
TEST(GpuCluster, HostsAreJoinedByANetwork) {
  const std::vector<GpuDevice> devices = {{0, "host0.cuda0", "h200", "host0"},
                                          {0, "host1.cuda0", "h200", "host1"}};
  const Cluster cluster = gpu_cluster("cuda:0", devices);
  for (const Device& device : cluster.devices()) EXPECT_TRUE(device.copy_engine);
  EXPECT_EQ(cluster[DeviceId(1)].host, "host1");
  ASSERT_EQ(cluster.links().size(), 2);
  for (const Link& link : cluster.links()) EXPECT_EQ(link.bandwidth, kBetweenHostsBandwidth);
}

TEST(GpuCluster, KnowsTheKindByTheDriversName) {
  EXPECT_EQ(gpu_kind("NVIDIA H200"), "h200");
  EXPECT_EQ(gpu_kind("NVIDIA A100-SXM4-40GB"), "a100");
  EXPECT_EQ(gpu_kind("Tesla P100-SXM2-16GB"), "p100");
  EXPECT_EQ(gpu_kind("NVIDIA GeForce RTX 4090"), "rtx-4090");
}

// A part of a GPU is no slower GPU: it has a kind, and so a profile, of its own.
TEST(GpuCluster, KindsOfPartsSayHowManyShareTheGpu) {
  EXPECT_EQ(gpu_kind("NVIDIA H200", 1), "h200");
  EXPECT_EQ(gpu_kind("NVIDIA H200", 4), "h200/4");
}

}  // namespace
}  // namespace strata
