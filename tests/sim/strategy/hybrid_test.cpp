#include "sim/strategy/hybrid.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/cluster/presets.h"
#include "sim/graph/zoo.h"
#include "sim/strategy/config_text.h"
#include "sim/strategy/search_space.h"

namespace strata {
namespace {

using ::testing::ElementsAre;

class Hybrid : public ::testing::Test {
 protected:
  std::string config(const char* sizes, const char* layer, int devices = 8) const {
    return config_text(hybrid_parallel(graph_, devices, sizes)[graph_.find(layer)]);
  }
  std::string error(const char* sizes, int devices = 8) const {
    try {
      hybrid_parallel(graph_, devices, sizes);
    } catch (const InputError& wrong) {
      return wrong.message();
    }
    return "";
  }

  Graph graph_ = build_zoo("llama:layers=1,hidden=32,heads=4,ffn=48,seq=16,vocab=64", 8);
};

TEST_F(Hybrid, CutsColumnsThenRows) {
  for (const char* columns : {"block1_query", "block1_value", "block1_attention", "block1_ffn_gate",
                              "block1_ffn_act", "head", "loss"}) {
    EXPECT_EQ(config("hybrid:tp=4,sp=1", columns), "n=2 c=4") << columns;
  }
  for (const char* rows : {"embedding", "block1_attention_out", "block1_ffn_out"}) {
    EXPECT_EQ(config("hybrid:tp=4,sp=1", rows), "n=2 r=4 scatter=w") << rows;
  }
  for (const char* between : {"block1_attention_norm", "block1_attention_add", "norm"}) {
    EXPECT_EQ(config("hybrid:tp=4,sp=1", between), "n=2 w=4") << between;
    EXPECT_EQ(config("hybrid:tp=4", between), "n=2 r=4 scatter=w") << between;
  }
}

TEST_F(Hybrid, CutsTokensBesides) {
  EXPECT_EQ(config("hybrid:cp=4", "block1_query"), "n=2 w=4");
  EXPECT_EQ(config("hybrid:tp=2,sp=1,cp=2", "block1_query"), "n=2 c=2 w=2, placed");
  EXPECT_EQ(config("hybrid:tp=2,sp=1,cp=2", "block1_attention_out"), "n=2 w=2 r=2 scatter=w");
  EXPECT_EQ(config("hybrid:tp=2,sp=1,cp=2", "norm"), "n=2 w=4");
  EXPECT_EQ(config("hybrid:tp=1", "norm"), "n=8");
}

TEST_F(Hybrid, CutsHeadsWhereTokensWereCut) {
  EXPECT_EQ(config("hybrid:cp=4,cp_by=heads", "block1_query"), "n=2 w=4");
  EXPECT_EQ(config("hybrid:cp=4,cp_by=heads", "block1_attention"), "n=2 c=4");
  EXPECT_EQ(config("hybrid:cp=4,cp_by=heads", "block1_attention_out"), "n=2 w=4");
  EXPECT_EQ(config("hybrid:cp=4,cp_by=heads", "block1_ffn_act"), "n=2 w=4");
  EXPECT_EQ(config("hybrid:tp=2,sp=1,cp=2,cp_by=heads", "block1_attention"), "n=2 c=4, placed");
  EXPECT_EQ(config("hybrid:tp=2,sp=1,cp=2,cp_by=heads", "block1_attention_out"),
            "n=2 w=2 r=2 scatter=w");
}

// Devices 0 and 2 have the same channels, of other tokens: these share the heads that lie in them.
TEST_F(Hybrid, ExchangesHeadsAmongDevicesOfTheSameChannels) {
  const Strategy strategy = hybrid_parallel(graph_, 8, "hybrid:tp=2,cp=2,cp_by=heads");
  const ShardDevices& devices = strategy[graph_.find("block1_attention")].devices;
  EXPECT_THAT(devices.all(), ElementsAre(DeviceId(0), DeviceId(2), DeviceId(1), DeviceId(3),
                                         DeviceId(4), DeviceId(6), DeviceId(5), DeviceId(7)));
}

class Experts : public Hybrid {
 protected:
  Experts() {
    graph_ = build_zoo("llama:layers=1,hidden=32,heads=4,ffn=48,seq=16,vocab=64,experts=8", 8);
  }
};

TEST_F(Experts, LieOnDevicesThatShareTheirTokens) {
  EXPECT_EQ(config("hybrid:ep=4", "block1_ffn_router"), "n=8");
  EXPECT_EQ(config("hybrid:ep=4", "block1_ffn_dispatch"), "n=8");
  EXPECT_EQ(config("hybrid:ep=4", "block1_ffn_expert_gate"), "n=2 d=4");
  EXPECT_EQ(config("hybrid:ep=4", "block1_ffn_expert_act"), "n=2 d=4");
  EXPECT_EQ(config("hybrid:ep=4", "block1_ffn_expert_out"), "n=2 d=4");
  EXPECT_EQ(config("hybrid:ep=4", "block1_ffn_combine"), "n=8");
}

TEST_F(Experts, AreCutAsOtherProducts) {
  EXPECT_EQ(config("hybrid:tp=2,sp=1,ep=2", "block1_ffn_dispatch"), "n=4 w=2");
  EXPECT_EQ(config("hybrid:tp=2,sp=1,ep=2", "block1_ffn_expert_up"), "n=2 c=2 d=2, placed");
  EXPECT_EQ(config("hybrid:tp=2,sp=1,ep=2", "block1_ffn_expert_act"), "n=2 c=2 d=2, placed");
  EXPECT_EQ(config("hybrid:tp=2,sp=1,ep=2", "block1_ffn_expert_out"), "n=2 d=2 r=2 scatter=w");
  EXPECT_EQ(config("hybrid:tp=2,sp=1,ep=4,etp=1", "block1_ffn_expert_up"), "n=2 d=4");
  EXPECT_EQ(config("hybrid:tp=2,ep=4,etp=1", "block1_ffn_dispatch"), "n=4 r=2 scatter=w");
  // Fewer devices than share a sample's tokens: each group of them has some tokens.
  EXPECT_EQ(config("hybrid:tp=4,sp=1,ep=2,etp=1", "block1_ffn_expert_up"), "n=2 d=2 w=2, placed");
  EXPECT_EQ(config("hybrid:cp=4,ep=2", "block1_ffn_expert_up"), "n=2 d=2 w=2, placed");
}

TEST_F(Experts, SayWhatDoesNotFit) {
  EXPECT_EQ(error("hybrid:ep=3"),
            "strategy 'hybrid:ep=3': the experts' ep x etp = 3 devices do not divide the 8 of a "
            "stage, or do not have whole samples or equal parts of one");
  EXPECT_EQ(
      error("hybrid:ep=16", 16),
      "strategy 'hybrid:ep=16': layer embedding: degree 16 in n; allowed: 1 to 8, its extent");
  EXPECT_EQ(error("hybrid:tp=2,sp=1,ep=16,etp=1", 16),
            "strategy 'hybrid:tp=2,sp=1,ep=16,etp=1': layer block1_ffn_expert_gate: degree 16 in "
            "d; allowed: 1 to 8, its extent");
  EXPECT_EQ(error("hybrid:ep=0"),
            "strategy 'hybrid:ep=0': ep must be an integer from 1 to 1048576, not '0'");
  EXPECT_THROW(hybrid_parallel(build_zoo("lenet5", 8), 8, "hybrid:ep=2"), InputError);
}

// Copies are in no search's space; nor is context parallelism beside channels, whose shards are
// numbered with tokens before channels.
TEST_F(Hybrid, LiesInASearchSpaceWithoutCopiesAndPlaces) {
  const Cluster cluster = preset_cluster("h200-2x4");
  SearchOptions placed;
  placed.host_placement = true;
  for (const SearchOptions& options : {SearchOptions{}, placed}) {
    const SearchSpace space(graph_, cluster, options);
    const auto holds = [&](const char* sizes) {
      return space.choices(hybrid_parallel(graph_, 8, sizes)).has_value();
    };
    EXPECT_TRUE(holds("hybrid:tp=4,sp=1"));
    EXPECT_TRUE(holds("hybrid:tp=2,sp=1"));
    EXPECT_TRUE(holds("hybrid:cp=4"));
    EXPECT_FALSE(holds("hybrid:tp=4"));
    EXPECT_FALSE(holds("hybrid:tp=2,sp=1,cp=2"));
  }
}

TEST_F(Hybrid, SaysWhatDoesNotFit) {
  EXPECT_EQ(error("hybrid:cp=8,cp_by=heads"),
            "strategy 'hybrid:cp=8,cp_by=heads': layer block1_attention: degree 8 in c; allowed: 1 "
            "to 4, a divisor of its 4 heads");
  EXPECT_EQ(error("hybrid:tp=2,cp_by=heads"),
            "strategy 'hybrid:tp=2,cp_by=heads': cp_by=heads needs cp=C with C of 2 or more, parts "
            "of the tokens");
  EXPECT_THROW(hybrid_parallel(build_zoo("lenet5", 8), 8, "hybrid:cp=2,cp_by=heads"), InputError);
  EXPECT_EQ(error("hybrid:cp=2,cp_by=w"),
            "strategy 'hybrid:cp=2,cp_by=w': cp_by must be heads, not 'w'");
  EXPECT_EQ(error("hybrid:tp=8"),
            "strategy 'hybrid:tp=8': layer block1_attention: degree 8 in c; allowed: 1 to 4, a "
            "divisor of its 4 heads");
  EXPECT_EQ(error("hybrid:tp=3"),
            "strategy 'hybrid:tp=3': its parts are 3 devices, which do not divide 8");
  EXPECT_EQ(error("hybrid:tp=65536,cp=65536"),
            "strategy 'hybrid:tp=65536,cp=65536': its parts are 4294967296 devices, which do not "
            "divide 8");
  EXPECT_EQ(error("hybrid:tp=2,tp=2"), "strategy 'hybrid:tp=2,tp=2': tp is given twice");
}

TEST_F(Hybrid, NamesAreSplitAtTheRightCommas) {
  EXPECT_THAT(split_strategies("data,hybrid:tp=2,sp=1,cp=2,owt,hybrid:tp=4,a.json"),
              ElementsAre("data", "hybrid:tp=2,sp=1,cp=2", "owt", "hybrid:tp=4", "a.json"));
}

}  // namespace
}  // namespace strata
