// Hybrids with stages, and what goes with them: shared weights, files.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/cluster/presets.h"
#include "sim/graph/zoo.h"
#include "sim/strategy/config_text.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/search_space.h"
#include "sim/strategy/shared_weight.h"
#include "sim/strategy/stages.h"
#include "sim/strategy/strategy_file.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kGpt = "gpt:layers=4,hidden=32,heads=4,seq=16,vocab=64";

std::vector<std::size_t> devices(const Config& config) {
  std::vector<std::size_t> numbers;
  for (DeviceId device : config.devices) numbers.push_back(device());
  return numbers;
}

std::string error(const Graph& graph, int devices, const char* sizes) {
  try {
    hybrid_parallel(graph, devices, sizes);
  } catch (const InputError& wrong) {
    return wrong.message();
  }
  return "";
}

TEST(Pipeline, StagesHaveConsecutiveDevices) {
  const Graph graph = build_zoo("llama:layers=4,hidden=32,heads=4,ffn=48,seq=16,vocab=64", 8);
  const Strategy four = hybrid_parallel(graph, 8, "hybrid:pp=4,tp=2,sp=1");
  const auto on = [&](const Strategy& strategy, const char* layer) {
    return devices(strategy[graph.find(layer)]);
  };
  EXPECT_THAT(on(four, "embedding"), ElementsAre(0, 1));
  EXPECT_THAT(on(four, "block1_query"), ElementsAre(0, 1));
  EXPECT_THAT(on(four, "block2_query"), ElementsAre(2, 3));
  EXPECT_THAT(on(four, "block3_ffn_out"), ElementsAre(4, 5));
  EXPECT_THAT(on(four, "block4_ffn_add"), ElementsAre(6, 7));
  EXPECT_THAT(on(four, "loss"), ElementsAre(6, 7));

  const Strategy interleaved = hybrid_parallel(graph, 8, "hybrid:pp=2,vp=2,tp=2,cp=2,sp=1");
  EXPECT_THAT(on(interleaved, "block1_query"), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(on(interleaved, "block2_query"), ElementsAre(4, 6, 5, 7));
  EXPECT_THAT(on(interleaved, "block3_query"), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(on(interleaved, "head"), ElementsAre(4, 6, 5, 7));
}

// Each layer is cut as on the devices of one stage alone.
TEST(Pipeline, StagesCutAsOneDoes) {
  const Graph graph = build_zoo("llama:layers=4,hidden=32,heads=4,ffn=48,seq=16,vocab=64", 8);
  for (const std::string sizes : {"hybrid:tp=2", "hybrid:tp=2,sp=1,cp=2", "hybrid:cp=2"}) {
    const Strategy alone = hybrid_parallel(graph, 4, sizes);
    const Strategy staged = hybrid_parallel(graph, 16, sizes + ",pp=4");
    for (std::size_t i = 0; i < graph.size(); ++i) {
      EXPECT_EQ(staged[LayerId(i)].degrees, alone[LayerId(i)].degrees);
    }
  }
}

TEST(Pipeline, OfEveryNetworkIsSoundAndOne) {
  const Cluster cluster = preset_cluster("h200-1x8");
  for (const char* model : {"gpt2", "llama3-8b", "bert-base", "vit_b_16", "resnet50", "vgg16",
                            "googlenet", "densenet121"}) {
    const Graph graph = build_zoo(model, 16);
    struct Way {
      const char* sizes;
      std::size_t stages, chunks;
    };
    for (const Way& way : {Way{"hybrid:pp=2", 2, 1}, Way{"hybrid:pp=4", 4, 1},
                           Way{"hybrid:pp=2,vp=2", 2, 2}, Way{"hybrid:pp=4,vp=1", 4, 1}}) {
      const Strategy strategy = hybrid_parallel(graph, 8, way.sizes);
      EXPECT_THAT(validate(strategy, graph, cluster), IsEmpty()) << model << " " << way.sizes;
      const Stages found = stages_of(graph, strategy);
      EXPECT_EQ(found.stages(), way.stages) << model;
      EXPECT_EQ(found.chunks.size(), way.stages * way.chunks) << model;
      EXPECT_NE(usual_schedule(pipeline_of(graph, found)), ScheduleKind::gpipe) << way.sizes;
    }
  }
  for (const char* model : {"gpt2", "llama3-8b", "bert-base", "vit_b_16"}) {
    const Graph graph = build_zoo(model, 16);
    for (const char* sizes : {"hybrid:tp=2,pp=2", "hybrid:tp=2,sp=1,pp=4", "hybrid:pp=2,vp=3,tp=2",
                              "hybrid:tp=2,cp=2,pp=2"}) {
      if (std::string(model) == "vit_b_16" && std::string(sizes).find("cp") != std::string::npos) {
        continue;  // its head has one token
      }
      if (std::string(model) == "llama3-8b" && std::string(sizes).find("vp") != std::string::npos) {
        continue;  // 32 blocks
      }
      const Strategy strategy = hybrid_parallel(graph, 8, sizes);
      EXPECT_THAT(validate(strategy, graph, cluster), IsEmpty()) << model << " " << sizes;
      const Pipeline found = pipeline_of(graph, stages_of(graph, strategy));
      EXPECT_NE(usual_schedule(found), ScheduleKind::gpipe) << model << " " << sizes;
    }
  }
}

TEST(Pipeline, SaysWhatDoesNotFit) {
  const Graph gpt = build_zoo("gpt2", 8);
  EXPECT_EQ(error(gpt, 8, "hybrid:pp=3"),
            "strategy 'hybrid:pp=3': its parts are 3 devices, which do not divide 8");
  EXPECT_EQ(error(gpt, 5, "hybrid:pp=5"),
            "strategy 'hybrid:pp=5': its 12 blocks do not divide into 5 stages; allowed: 2, 3, 4, "
            "6, 7 or 12 stages");
  EXPECT_EQ(error(gpt, 8, "hybrid:pp=4,vp=2"),
            "strategy 'hybrid:pp=4,vp=2': its 12 blocks do not divide into 4 stages of 2 chunks "
            "each; allowed: 4 or 12 chunks in all");
  EXPECT_EQ(error(gpt, 8, "hybrid:vp=2"),
            "strategy 'hybrid:vp=2': vp=2 needs several stages; allowed: pp=P with P of 2 or more");
  EXPECT_EQ(error(gpt, 8, "hybrid:pp=0"),
            "strategy 'hybrid:pp=0': pp must be an integer from 1 to 1048576, not '0'");
  EXPECT_EQ(error(gpt, 8, "hybrid:pp=2,zp=3"),
            "strategy 'hybrid:pp=2,zp=3': 'zp=3' is no size; allowed: tp=T, sp=1, cp=C, "
            "cp_by=heads, ep=E, etp=T, pp=P, vp=V, vp=v");
  EXPECT_EQ(error(build_zoo("lenet5", 16), 16, "hybrid:pp=16"),
            "strategy 'hybrid:pp=16': its 13 layers are too few for 16 stages");
}

// GPT's head has the weight of its embedding.
class TiedStages : public ::testing::Test {
 protected:
  Strategy with_head(const Strategy& strategy, Config head) const {
    std::vector<Config> configs(strategy.configs().begin(), strategy.configs().end());
    configs[head_()] = std::move(head);
    return {"s", std::move(configs)};
  }
  std::vector<std::string> wrong(const Config& head, const char* sizes = "hybrid:pp=2,tp=2") const {
    return validate(with_head(hybrid_parallel(graph_, 8, sizes), head), graph_, cluster_);
  }

  Graph graph_ = build_zoo(kGpt, 8);
  Cluster cluster_ = preset_cluster("h200-1x8");
  LayerId head_ = graph_.find("head"), embedding_ = graph_.find("embedding");
};

TEST_F(TiedStages, TheLastHoldsTheFirstsParts) {
  const Strategy strategy = hybrid_parallel(graph_, 8, "hybrid:pp=2,tp=2,sp=1");
  EXPECT_EQ(config_text(strategy[embedding_]), "n=2 r=2 scatter=w");
  EXPECT_EQ(config_text(strategy[head_].degrees), "n=2 c=2");
  EXPECT_THAT(devices(strategy[embedding_]), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(devices(strategy[head_]), ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(weight_holder(graph_, head_, strategy.configs()), head_);
  EXPECT_EQ(weight_holder(graph_, embedding_, strategy.configs()), embedding_);
  EXPECT_THAT(weight_copies(graph_, embedding_, strategy.configs()), ElementsAre(head_));
  const Strategy one_stage = hybrid_parallel(graph_, 8, "hybrid:tp=2,sp=1");
  EXPECT_EQ(weight_holder(graph_, head_, one_stage.configs()), embedding_);
  EXPECT_THAT(weight_copies(graph_, embedding_, one_stage.configs()), IsEmpty());
  EXPECT_THAT(validate(one_stage, graph_, cluster_), IsEmpty());
}

// The decoder's embedding and head have the encoder's vectors, each stack's attentions the numbers
// of its first; who has no owner's device has a copy.
TEST(SharedStages, HaveCopiesOfVectorsAndDistances) {
  const Graph graph = build_zoo(
      "t5:layers=4,hidden=16,heads=4,ffn=32,seq=8,target_seq=8,vocab=64,buckets=4,max_distance=3",
      8);
  const Strategy strategy = hybrid_parallel(graph, 8, "hybrid:pp=4,tp=2,sp=1");
  EXPECT_THAT(validate(strategy, graph, preset_cluster("h200-1x8")), IsEmpty());
  const auto copies = [&](std::string_view owner) {
    std::string names;
    for (LayerId copy : weight_copies(graph, graph.find(owner), strategy.configs())) {
      names += " " + graph[copy].name;
    }
    return names;
  };
  EXPECT_EQ(config_text(strategy[graph.find("embedding")].degrees),
            config_text(strategy[graph.find("target_embedding")].degrees));
  EXPECT_EQ(copies("embedding"), " target_embedding head");
  EXPECT_EQ(copies("encoder_block1_attention"), " encoder_block4_attention");
  EXPECT_EQ(config_text(strategy[graph.find("decoder_block3_attention")].degrees), "c=2");
  EXPECT_EQ(copies("decoder_block1_attention"),
            " decoder_block2_attention decoder_block4_attention");
}

TEST_F(TiedStages, AConfigComesForGivenDevices) {
  const Strategy strategy = hybrid_parallel(graph_, 8, "hybrid:pp=2,tp=2,sp=1");
  Config owner = strategy[embedding_];
  owner.devices = {DeviceId(7), DeviceId(6), DeviceId(5), DeviceId(4)};
  const auto head = config_with_weight(graph_[head_], graph_[embedding_], owner);
  ASSERT_TRUE(head);
  EXPECT_THAT(devices(*head), ElementsAre(7, 6, 5, 4));
  EXPECT_THAT(wrong(*head, "hybrid:pp=2,tp=2,sp=1"), IsEmpty());
}

TEST_F(TiedStages, OtherPartsAreRefused) {
  EXPECT_THAT(wrong({{{4, 1, 1, 1, 1}}, {DeviceId(4), DeviceId(5), DeviceId(6), DeviceId(7)}}),
              ElementsAre("layer head: n=4, devices 4 to 7 does not hold the parts of the weight "
                          "that embedding has under n=2 r=2 scatter=w; allowed: n=2 c=2"));
  // The parts, but each once.
  EXPECT_THAT(wrong({{{1, 2, 1, 1, 1}}, {DeviceId(4), DeviceId(5)}}),
              ElementsAre("layer head: c=2, devices 4 to 5 does not hold the parts of the weight "
                          "that embedding has under n=2 r=2 scatter=w; allowed: n=2 c=2"));
}

TEST_F(TiedStages, DevicesThatOverlapAreRefused) {
  EXPECT_THAT(wrong({{{2, 2, 1, 1, 1}}, {DeviceId(2), DeviceId(3), DeviceId(4), DeviceId(5)}}),
              ElementsAre("layer head: some of its devices hold the weight of embedding, others do "
                          "not; allowed: all, or none"));
}

TEST_F(TiedStages, FilesCarryThem) {
  for (const char* sizes : {"hybrid:pp=2,tp=2,sp=1", "hybrid:pp=4", "hybrid:pp=2,vp=2,cp=2"}) {
    const Strategy strategy = hybrid_parallel(graph_, 8, sizes);
    const std::string text = print_strategy(strategy, graph_, cluster_);
    EXPECT_EQ(parse_strategy(text, "s.json", graph_, cluster_), strategy) << sizes;
  }
}

// No search places layers on other devices than the first.
TEST_F(TiedStages, LieInNoSearchSpace) {
  const SearchSpace space(graph_, cluster_);
  EXPECT_FALSE(space.choices(hybrid_parallel(graph_, 8, "hybrid:pp=2,tp=2,sp=1")));
}

}  // namespace
}  // namespace strata
