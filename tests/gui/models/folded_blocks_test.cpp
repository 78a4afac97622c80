// Blocks that repeat, as a transformer's, stand once in the network's picture.

#include <algorithm>
#include <map>

#include <gmock/gmock.h>

#include "gui/models/network/network_map.h"
#include "gui/models/network/network_nodes.h"
#include "gui/models/network/parts.h"
#include "sim/case/network.h"
#include "sim/graph/zoo.h"
#include "tests/gui/models/cases.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

constexpr const char* kSmallGpt = "gpt:layers=4,hidden=32,heads=4,seq=16,vocab=64";

std::vector<std::string> shown_names(const Parts& parts, const OpenParts& open) {
  std::vector<std::string> names;
  for (const std::size_t part : parts.visible(open)) names.push_back(shown_name(parts[part]));
  return names;
}

Graph network(const char* model) {
  return load_network(model, 1, FileWeights::skip).graph;
}

TEST(FoldedBlocks, StandOnceByTheNameThatTheyShare) {
  const auto shut = [](const char* model) {
    const Parts parts(network(model), true);
    return shown_names(parts, parts.blocks_shut());
  };
  EXPECT_THAT(shut("gpt2"),
              ElementsAre("input", "embedding", "positions", "block* ×12", "norm", "head", "loss"));
  EXPECT_THAT(shut("bert-base"), Contains("block* ×12"));
  EXPECT_THAT(shut("llama3-405b"),
              ElementsAre("input", "embedding", "block* ×126", "norm", "head", "loss"));
  EXPECT_THAT(shut("resnet101"), Contains("layer3_* ×22"));
  const Parts parts(network("gpt2"), true);
  EXPECT_THAT(shown_names(parts, parts.usual()), Contains("block*_attention ×12"));
  EXPECT_FALSE(Parts(network("vgg16"), true).folded());
}

TEST(FoldedBlocks, HoldEveryLayerOnceWhateverIsOpen) {
  for (const char* model : {"gpt2", "bert-base", "vit_b_16", "llama3-8b", "resnet101"}) {
    SCOPED_TRACE(model);
    const Graph graph = network(model);
    const Parts parts(graph, true);
    ASSERT_TRUE(parts.folded());
    for (const OpenParts& open : {parts.blocks_shut(), parts.blocks_open(), parts.all_open()}) {
      std::vector<LayerId> layers;
      for (const std::size_t part : parts.visible(open)) {
        const std::vector<LayerId>& held = parts[part].layers;
        EXPECT_TRUE(std::ranges::is_sorted(held));
        layers.insert(layers.end(), held.begin(), held.end());
      }
      std::ranges::sort(layers);
      ASSERT_EQ(layers.size(), graph.size());
      for (std::size_t i = 0; i < layers.size(); ++i) ASSERT_EQ(layers[i], LayerId(i));
    }
  }
}

TEST(FoldedBlocks, KnowTheLayerThatTheyRepeat) {
  const Graph graph = network("gpt2");
  const Parts parts(graph, true);
  const LayerId query = graph.find("block7_query");
  EXPECT_EQ(parts.first_of(query), graph.find("block1_query"));
  EXPECT_EQ(parts.first_of(graph.find("head")), graph.find("head"));
  EXPECT_EQ(Parts(graph).first_of(query), query);
}

// Together as much as all of them, and no edge leads back.
TEST(FoldedBlocks, MoveWhatAllRepetitionsMove) {
  const ScenePtr scene = scene_of(kSmallGpt, "p100-1x4", "hybrid:tp=4,sp=1");
  const Graph& graph = scene->input.graph;
  const auto moved = [&](bool folds) {
    const Parts parts(graph, folds);
    const NetworkPicture picture = network_picture(*scene, parts, parts.all_open());
    Bytes sum;
    for (const NetworkEdge& edge : picture.edges) {
      EXPECT_LT(edge.from, edge.to);
      sum += edge.bytes;
    }
    return sum;
  };
  EXPECT_GT(moved(true).value, 0);
  EXPECT_EQ(moved(true), moved(false));
}

class FoldedMapTest : public ::testing::Test {
 protected:
  FoldedMapTest() {
    workspace_.open(document_of(kSmallGpt, "p100-1x4", "hybrid:tp=4,sp=1"));
    settle();
  }
  void settle() {
    ASSERT_TRUE(testing::wait_until([&] { return workspace_.jobs().idle() && map_.scene(); }));
  }
  LayerId layer(const char* name) const { return map_.scene()->input.graph.find(name); }
  const NetworkNode& node(const char* name) const {
    return map_.picture().nodes.at(map_.node_of(layer(name)).value());
  }
  std::string cut(const char* name) const { return node(name).cuts.front().text; }

  QCoreApplication& application_ = testing::application();
  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  NetworkMap map_{workspace_};
};

TEST_F(FoldedMapTest, ALayerOfAnyRepetitionIsTheNodes) {
  EXPECT_EQ(map_.node_of(layer("block1_query")), map_.node_of(layer("block4_query")));
  EXPECT_EQ(node("block3_query").name, "query") << "within the frame of block*";
  EXPECT_EQ(node("block3_query").layers, 4u);
  workspace_.selection().select_layers({layer("block3_query")});
  const std::size_t query = *map_.node_of(layer("block1_query"));
  EXPECT_TRUE(map_.touched(query));
  EXPECT_FALSE(map_.selected(query));
  workspace_.selection().select_layers(map_.layers_of({query}));
  EXPECT_TRUE(map_.selected(query));
  EXPECT_EQ(workspace_.selection().layers().size(), 4u);
}

TEST_F(FoldedMapTest, EachStandsByItselfWhereTheyAreNotFolded) {
  const std::size_t folded = map_.picture().nodes.size();
  EXPECT_TRUE(map_.can_fold());
  map_.set_folds(false);
  settle();
  EXPECT_GT(map_.picture().nodes.size(), folded);
  EXPECT_EQ(node("block3_query").name, "block3_query");
  map_.set_folds(true);
  settle();
  EXPECT_EQ(map_.picture().nodes.size(), folded);
}

TEST_F(FoldedMapTest, SaysInHowManyWaysTheirLayersAreCut) {
  ASSERT_EQ(map_.picture().ways.size(), 1u);
  EXPECT_EQ(map_.picture().ways.begin()->second, 1u);
  workspace_.set_config({layer("block2_query")}, config_on_first_devices(kWhole));
  settle();
  EXPECT_EQ(map_.picture().ways.begin()->second, 2u);
  EXPECT_EQ(node("block1_query").cuts.size(), 2u);
}

TEST_F(FoldedMapTest, AreOneRowALayerInATable) {
  LayerTable table;
  const ScenePtr scene = workspace_.scene();
  table.set_scene(scene, std::make_shared<Parts>(scene->input.graph, true));
  EXPECT_EQ(table.rowCount(), 3 + 12 + 3);
  const auto text = [&](int row, LayerTable::Column column) {
    return table.index(row, column).data().toString().toStdString();
  };
  EXPECT_EQ(text(7, LayerTable::name_column), "block*_attention  ×4");
  EXPECT_EQ(text(7, LayerTable::config_column), "heads=4");
  EXPECT_EQ(text(3, LayerTable::config_column), "tokens=4");
  EXPECT_EQ(text(3, LayerTable::output_column), "128 × 32 × 16 tokens");
}

TEST_F(FoldedMapTest, CutsAreInTheLayersWords) {
  EXPECT_EQ(cut("block1_query"), "c=4");
  EXPECT_EQ(cut("block1_attention"), "heads=4");
  EXPECT_EQ(cut("block1_ffn_norm"), "tokens=4");
  EXPECT_FALSE(map_.find(QStringLiteral("heads=4")).empty());
}

}  // namespace
}  // namespace strata::gui
