#include <gtest/gtest.h>

#include "sim/graph/graph.h"
#include "sim/strategy/strategy.h"

namespace strata {
namespace {

// input -> conv (8 channels) -> relu -> pool -> flatten -> fc (6) -> relu -> fc (3) -> loss
Graph small_network(std::int64_t batch) {
  GraphBuilder b("small", batch);
  const LayerId data = b.add("data", Input{{{1, 3, 1, 8, 8}}}, {});
  Convolution conv;
  conv.out_channels = 8;
  conv.windows.h = conv.windows.w = {.kernel = 3, .stride = 1, .pad_begin = 1, .pad_end = 1};
  const LayerId c = b.add("conv", conv, {data});
  const LayerId r = b.add("relu", Activation{}, {c});
  Pooling pool;
  pool.windows.h = pool.windows.w = {.kernel = 2, .stride = 2};
  const LayerId p = b.add("pool", pool, {r});
  const LayerId f = b.add("flatten", Flatten{}, {p});
  const LayerId fc1 = b.add("fc1", FullyConnected{6}, {f});
  const LayerId r1 = b.add("relu1", Activation{}, {fc1});
  const LayerId fc2 = b.add("fc2", FullyConnected{3}, {r1});
  b.add("loss", SoftmaxCrossEntropy{}, {fc2});
  return std::move(b).build();
}

Degrees n(int k) {
  return {{k, 1, 1, 1, 1}};
}
Degrees c(int k) {
  return {{1, k, 1, 1, 1}};
}

std::vector<Degrees> degrees(const Strategy& strategy) {
  std::vector<Degrees> all;
  for (const Config& config : strategy.configs()) all.push_back(config.degrees);
  return all;
}

TEST(Baselines, DataCutsSamplesEverywhere) {
  const Graph graph = small_network(16);
  EXPECT_EQ(degrees(data_parallel(graph, 4)), std::vector<Degrees>(9, n(4)));
}

TEST(Baselines, DataUsesNoMoreDevicesThanSamples) {
  const Graph graph = small_network(3);
  EXPECT_EQ(degrees(data_parallel(graph, 4)), std::vector<Degrees>(9, n(3)));
}

TEST(Baselines, ModelCutsChannelsAndLayersWithoutParametersFollow) {
  const Graph graph = small_network(16);
  // On 4 devices: fc2 has 3 channels, and the loss follows it. The input is cut in its own three.
  const std::vector<Degrees> expected = {c(3), c(4), c(4), c(4), c(4), c(4), c(4), c(3), c(3)};
  EXPECT_EQ(degrees(model_parallel(graph, 4)), expected);
}

TEST(Baselines, OwtCutsChannelsFromTheFirstFullyConnectedLayerOn) {
  const Graph graph = small_network(16);
  const std::vector<Degrees> expected = {n(2), n(2), n(2), n(2), n(2), c(2), c(2), c(2), c(2)};
  EXPECT_EQ(degrees(owt_parallel(graph, 2)), expected);
}

// conv (8 channels) -> opaque -> relu -> fc (6)
TEST(Baselines, AnOpaqueOpIsCutInSamplesOrNotAtAll) {
  GraphBuilder b("opaque", 16);
  const LayerId data = b.add("data", Input{{{1, 3, 1, 8, 8}}}, {});
  Convolution conv;
  conv.out_channels = 8;
  const LayerId c1 = b.add("conv", conv, {data});
  const LayerId o = b.add("resize", Opaque{"Resize", {{1, 8, 1, 4, 4}}}, {c1});
  const LayerId r = b.add("relu", Activation{}, {o});
  const LayerId fc = b.add("fc", FullyConnected{6}, {r});
  b.add("einsum", Opaque{"Einsum", {{1, 6, 1, 1, 1}}}, {fc});
  const Graph graph = std::move(b).build();
  EXPECT_EQ(degrees(data_parallel(graph, 4)), std::vector<Degrees>(6, n(4)));
  EXPECT_EQ(degrees(model_parallel(graph, 2)),
            (std::vector<Degrees>{c(2), c(2), kWhole, kWhole, c(2), kWhole}));
  EXPECT_EQ(degrees(owt_parallel(graph, 2)),
            (std::vector<Degrees>{n(2), n(2), n(2), n(2), c(2), n(2)}));
}

TEST(Baselines, ShardsSitOnTheFirstDevices) {
  const Config config = config_on_first_devices({{2, 1, 1, 1, 2}});
  EXPECT_EQ(config.devices,
            (std::vector<DeviceId>{DeviceId(0), DeviceId(1), DeviceId(2), DeviceId(3)}));
}

}  // namespace
}  // namespace strata
