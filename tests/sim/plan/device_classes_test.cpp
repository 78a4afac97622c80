// Which devices are alike, for cases that a person can follow. That one of each class does what all
// do is tested in tests/sim/simulate/classes_test.cpp.

#include "sim/plan/device_classes.h"

#include <map>

#include <gtest/gtest.h>

#include "sim/cluster/presets.h"
#include "sim/cluster/what_if.h"
#include "sim/graph/zoo.h"
#include "sim/plan/classify_devices.h"
#include "sim/strategy/hybrid.h"

namespace strata {
namespace {

// Two fully-connected layers of 64 channels.
Graph two_layers(std::int64_t batch) {
  GraphBuilder builder("two", batch);
  const LayerId data = builder.add("data", Input{{{1, 64, 1, 1, 1}}}, {});
  const LayerId a = builder.add("a", FullyConnected{64, false}, {data});
  const LayerId b = builder.add("b", FullyConnected{64, false}, {a});
  builder.add("loss", SoftmaxCrossEntropy{}, {b});
  return std::move(builder).build();
}

DeviceClasses classes_of(const Cluster& cluster, const Strategy& strategy, std::int64_t batch,
                         SyncAlgorithm sync = SyncAlgorithm::ring,
                         std::span<const std::uint32_t> cost_models = {}) {
  const Graph graph = two_layers(batch);
  const LowerOptions options{.sync = sync};
  LoweringMemo memo(graph, cluster);
  const Step step = make_step(graph, strategy, step_options(options));
  return find_device_classes(graph, cluster, strategy, step, options, cost_models, memo);
}

Strategy data(const Cluster& cluster, std::int64_t batch) {
  return data_parallel(two_layers(batch), static_cast<int>(cluster.device_count()));
}

// By representative: how many devices it stands for.
std::map<std::size_t, std::int64_t> members(const DeviceClasses& classes) {
  std::map<std::size_t, std::int64_t> result;
  for (DeviceId device : classes.representatives()) result[device()] = classes.members(device);
  return result;
}

using Members = std::map<std::size_t, std::int64_t>;

// The devices of the first host stand for those of the others: on the ring, the first and the last
// of a host have a link to the network each, the others do not.
TEST(DeviceClasses, ReplicasOfEqualHostsAreAlike) {
  const Cluster cluster = preset_cluster("p100-4x2");
  const DeviceClasses classes = classes_of(cluster, data(cluster, 32), 32);
  EXPECT_EQ(members(classes), (Members{{0, 4}, {1, 4}}));
  EXPECT_EQ(classes.representative(DeviceId(7)), DeviceId(1));
  EXPECT_TRUE(classes.share_domain(DeviceId(6), DeviceId(7)));
  EXPECT_FALSE(classes.share_domain(DeviceId(5), DeviceId(6)));
}

// Where each device has its own links to a switch and to the network, devices of one host are, too:
// each of the rings enters the host at another.
TEST(DeviceClasses, DevicesOfOneHostOnASwitchAreAlike) {
  const Cluster cluster = preset_cluster("a100-4x8");
  const DeviceClasses classes = classes_of(cluster, data(cluster, 32), 32);
  EXPECT_EQ(members(classes), (Members{{0, 32}}));
  EXPECT_EQ(classes.representative(DeviceId(29)), DeviceId(0));
  const LinkId out = cluster.find_link("host3/gpu29>switch");
  EXPECT_EQ(classes.representative(out), cluster.find_link("host0/gpu0>switch"));
  EXPECT_EQ(classes.members(out), 32);
}

TEST(DeviceClasses, AStragglerSplitsItsHostAndWhoStandsBesideIt) {
  const Cluster cluster = apply(preset_cluster("a100-4x8"), "device.gpu12.speed", "0.5");
  EXPECT_EQ(members(classes_of(cluster, data(cluster, 32), 32)),
            (Members{{0, 24}, {8, 7}, {12, 1}}));
}

// Samples [floor(10 i / 8), floor(10 (i + 1) / 8)): devices 3 and 7 have two, the others one, so
// the second and the fourth host differ from the first and the third.
TEST(DeviceClasses, UnevenPartsSplitThem) {
  const Cluster cluster = preset_cluster("p100-4x2");
  EXPECT_EQ(members(classes_of(cluster, data(cluster, 10), 10)),
            (Members{{0, 2}, {1, 2}, {2, 2}, {3, 2}}));
}

TEST(DeviceClasses, AStragglerSplitsItsHostOff) {
  const Cluster cluster = apply(preset_cluster("p100-4x2"), "device.gpu5.speed", "0.5");
  EXPECT_EQ(members(classes_of(cluster, data(cluster, 32), 32)),
            (Members{{0, 3}, {1, 3}, {4, 1}, {5, 1}}));
}

// As where one device has a profile of its own.
TEST(DeviceClasses, SoDoesADeviceOfOtherCosts) {
  const Cluster cluster = preset_cluster("p100-4x2");
  const std::vector<std::uint32_t> cost_models = {0, 0, 0, 0, 0, 0, 1, 0};
  EXPECT_EQ(members(classes_of(cluster, data(cluster, 32), 32, SyncAlgorithm::ring, cost_models)),
            (Members{{0, 3}, {1, 3}, {6, 1}, {7, 1}}));
}

// The layers with parameters are served by replicas 0 and 1, both in the first host.
TEST(DeviceClasses, AParameterServerIsLikeNoOtherDevice) {
  const Cluster cluster = preset_cluster("p100-4x2");
  EXPECT_EQ(members(classes_of(cluster, data(cluster, 32), 32, SyncAlgorithm::ps)),
            (Members{{0, 1}, {1, 1}, {2, 3}, {3, 3}}));
}

// Layer b on the first host alone: its two devices read of all, and the other hosts send to it.
TEST(DeviceClasses, ReadersAndThoseWhoAreReadDiffer) {
  const Cluster cluster = preset_cluster("p100-4x2");
  const Strategy all = data(cluster, 32);
  std::vector<Config> configs(all.configs().begin(), all.configs().end());
  for (std::size_t layer : {2u, 3u}) configs[layer] = config_on_first_devices({{1, 2, 1, 1, 1}});
  EXPECT_EQ(members(classes_of(cluster, {"mixed", configs}, 32)),
            (Members{{0, 1}, {1, 1}, {2, 3}, {3, 3}}));
}

// The table of tokens is cut as the products are that have biases, of which the first device holds
// all: layers that are alike but for their parameters.
TEST(DeviceClasses, WhoHoldsTheBiasesIsLikeNoOther) {
  const Graph graph = build_zoo("gpt:layers=1,hidden=24,heads=4,ffn=24,seq=4,vocab=24", 4);
  const Plan plan =
      lower_by_class(graph, preset_cluster("v100-1x4"), hybrid_parallel(graph, 4, "hybrid:tp=4"));
  ASSERT_NE(plan.classes(), nullptr);
  EXPECT_EQ(plan.classes()->members(DeviceId(0)), 1);
  EXPECT_LT(plan.classes()->representatives().size(), 4U);
}

// Statistics of many samples go around a ring, on which all devices of a switch do the same; those
// of few by two trees, whose roots are the first two devices.
TEST(DeviceClasses, StatisticsAreSummedAsTheirSizeAsks) {
  const Cluster cluster = preset_cluster("a100-1x8");
  const auto model = [&](std::int64_t batch) {
    return classes_of(cluster, model_parallel(two_layers(batch), 8), batch);
  };
  EXPECT_EQ(members(model(1 << 20)), (Members{{0, 8}}));
  EXPECT_EQ(members(model(32)), (Members{{0, 2}, {2, 6}}));
}

TEST(DeviceClasses, DevicesThatCopyThemselvesAreClassesOfTheirOwn) {
  const Cluster cluster = preset_cluster("cpu:4");
  EXPECT_TRUE(classes_of(cluster, data(cluster, 32), 32).is_trivial());
}

}  // namespace
}  // namespace strata
