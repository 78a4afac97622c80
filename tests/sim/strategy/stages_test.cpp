#include "sim/strategy/stages.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/graph/zoo.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Layers a, b, c, ... one behind the other after an input, each cut in samples on the devices that
// its text lists: "01 01 23".
struct Chain {
  explicit Chain(std::string_view placed) {
    GraphBuilder builder("chain", 8);
    LayerId before = builder.add("data", Input{{1, 4, 1, 1, 1}}, {});
    std::vector<Config> configs = {config_on_first_devices(kWhole)};
    std::vector<DeviceId> devices;
    const auto add = [&] {
      const std::string name(1, static_cast<char>('a' + builder.size() - 1));
      before = builder.add(name, FullyConnected{4}, {before});
      Degrees degrees = kWhole;
      degrees[Dim::n] = static_cast<std::int32_t>(devices.size());
      configs.push_back({degrees, std::exchange(devices, {})});
    };
    for (char c : placed) {
      if (c == ' ') {
        add();
      } else {
        devices.emplace_back(static_cast<std::size_t>(c - '0'));
      }
    }
    add();
    graph = std::move(builder).build();
    strategy = Strategy("chain", std::move(configs));
  }
  Stages stages() const { return stages_of(graph, strategy); }
  ScheduleKind usual() const { return usual_schedule(pipeline_of(graph, stages())); }
  // "1/1 2/2 3/1": the chunk of each layer behind the input, and its stage.
  std::string text() const {
    const Stages found = stages();
    std::string text;
    for (std::size_t i = 1; i < graph.size(); ++i) {
      const Chunk& chunk = found.chunk_of(LayerId(i));
      text += (i > 1 ? " " : "") + std::to_string(found.chunk_of_layer[i]) + "/" +
              std::to_string(chunk.stage);
    }
    return text;
  }

  Graph graph;
  Strategy strategy;
};

std::vector<DeviceId> devices(std::initializer_list<std::size_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

TEST(Stages, LayersThatShareDevicesAreOneChunk) {
  const Stages found = Chain("01 0 13 2 2").stages();
  EXPECT_THAT(found.chunk_of_layer, ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_THAT(found.chunks, ElementsAre(Chunk{LayerId(1), LayerId(3), devices({0, 1, 3}), 0},
                                        Chunk{LayerId(4), LayerId(5), devices({2}), 1}));
  EXPECT_THAT(found.devices, ElementsAre(devices({0, 1, 3}), devices({2})));
  EXPECT_EQ(found.stages(), 2U);
}

// A stage can't compute again what another one computed.
TEST(Stages, SegmentsEndWhereChunksDo) {
  const Chain chain("01 01 23 23 01 23");
  const auto cut = [&](const Segments& segments) {
    return within_chunks(chain.graph, chain.stages(), segments);
  };
  EXPECT_THAT(cut({0, 1, 1, 1, 1, 0, 2}), ElementsAre(0, 1, 1, 2, 2, 0, 3));
  EXPECT_THAT(cut({0, 4, 4, 4, 4, 4, 4}), ElementsAre(0, 1, 1, 2, 2, 3, 4));
  const Chain alone("01 10 0");
  EXPECT_THAT(within_chunks(alone.graph, alone.stages(), {0, 1, 1, 1}), ElementsAre(0, 1, 1, 1));
}

TEST(Stages, ChunksMayBeInterleaved) {
  const Chain chain("01 23 23 01 23 32");
  EXPECT_EQ(chain.text(), "0/0 1/1 1/1 2/0 3/1 3/1");
  EXPECT_EQ(chain.usual(), ScheduleKind::interleaved);
  EXPECT_EQ(chain.stages().stages(), 2U);
}

TEST(Stages, AChunkMayLieOnSomeOfItsStagesDevices) {
  const Chain chain("01 23 1 3");
  EXPECT_EQ(chain.text(), "0/0 1/1 2/0 3/1");
  EXPECT_THAT(chain.stages().devices, ElementsAre(devices({0, 1}), devices({2, 3})));
  EXPECT_EQ(chain.usual(), ScheduleKind::interleaved);
}

TEST(Stages, UsualStrategiesAreOneStage) {
  for (const char* model :
       {"alexnet", "googlenet", "gpt:layers=2,hidden=32,heads=4,seq=16,vocab=64"}) {
    const Graph graph = build_zoo(model, 64);
    for (const Strategy& strategy :
         {data_parallel(graph, 4), model_parallel(graph, 4), owt_parallel(graph, 4)}) {
      const Stages found = stages_of(graph, strategy);
      EXPECT_THAT(found.chunks, SizeIs(1)) << model << " " << strategy.name();
      EXPECT_THAT(found.devices, ElementsAre(devices({0, 1, 2, 3})));
      EXPECT_EQ(pipeline_of(graph, found).chunks(), 1U);
    }
  }
}

// Whose chunks go another way through the stages has no usual order of a pipeline.
TEST(Stages, ChunksMayLieAnyhow) {
  EXPECT_EQ(Chain("0 1 2 0 1 2").usual(), ScheduleKind::interleaved);
  for (const char* placed : {"0 1 0 2", "0 1 2 1 0", "0 1 2 0 1", "0 1 2 01"}) {
    EXPECT_EQ(Chain(placed).usual(), ScheduleKind::gpipe) << placed;
  }
  EXPECT_EQ(Chain("0 1 0 2").text(), "0/0 1/1 2/0 3/2");
  // The devices of the third chunk join the first two in one stage.
  EXPECT_EQ(Chain("0 1 2 01").text(), "0/0 1/0 2/1 3/0");
}

// The stage at which it turns back has two chunks.
TEST(Stages, APipelineMayTurnBack) {
  EXPECT_EQ(Chain("0 1 1 0").text(), "0/0 1/1 2/1 3/0");
  EXPECT_EQ(Chain("0 1 2 2 1 0").text(), "0/0 1/1 2/2 3/2 4/1 5/0");
  EXPECT_EQ(Chain("0 1 2 2 1 0").usual(), ScheduleKind::zb_v);
}

// Layers stand in the graph's order, branch by branch: what takes turns is no pipeline.
TEST(Stages, BranchesOnDevicesOfTheirOwnTakeTurns) {
  GraphBuilder builder("branches", 4);
  const LayerId data = builder.add("data", Input{{1, 4, 1, 1, 1}}, {});
  const LayerId stem = builder.add("stem", FullyConnected{4}, {data});
  const LayerId left1 = builder.add("left1", FullyConnected{4}, {stem});
  const LayerId right1 = builder.add("right1", FullyConnected{4}, {stem});
  const LayerId left2 = builder.add("left2", FullyConnected{4}, {left1});
  const LayerId right2 = builder.add("right2", FullyConnected{4}, {right1});
  builder.add("join", Add{}, {left2, right2});
  const Graph graph = std::move(builder).build();
  std::vector<Config> configs;
  for (std::size_t device : {0, 0, 1, 2, 1, 2, 0}) configs.push_back({kWhole, {DeviceId(device)}});
  const Stages found = stages_of(graph, Strategy("branches", configs));
  EXPECT_THAT(found.chunk_of_layer, ElementsAre(0, 0, 1, 2, 3, 4, 5));
  EXPECT_EQ(found.stages(), 3U);
  EXPECT_EQ(usual_schedule(pipeline_of(graph, found)), ScheduleKind::gpipe);
}

TEST(Stages, AnInputGoesWithItsFirstReader) {
  GraphBuilder builder("two inputs", 4);
  const LayerId first = builder.add("first", Input{{1, 4, 1, 1, 1}}, {});
  const LayerId second = builder.add("second", Input{{1, 4, 1, 1, 1}}, {});
  const LayerId fc = builder.add("fc", FullyConnected{4}, {first});
  builder.add("add", Add{}, {fc, second});
  const Graph graph = std::move(builder).build();
  const Strategy strategy("s", {{kWhole, {DeviceId(0)}},
                                {kWhole, {DeviceId(0)}},
                                {kWhole, {DeviceId(0)}},
                                {kWhole, {DeviceId(1)}}});
  EXPECT_THAT(stages_of(graph, strategy).chunk_of_layer, ElementsAre(0, 1, 0, 1));
}

TEST(Stages, ANetworkOfInputsHasNone) {
  GraphBuilder builder("inputs", 4);
  builder.add("data", Input{{1, 4, 1, 1, 1}}, {});
  const Graph graph = std::move(builder).build();
  const Stages found = stages_of(graph, data_parallel(graph, 2));
  EXPECT_THAT(found.chunks, IsEmpty());
}

}  // namespace
}  // namespace strata
