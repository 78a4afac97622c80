// A network as a picture: its parts, where they lie, what they show, and what may be done to them.

#include <QAbstractItemModelTester>
#include <cmath>

#include <gmock/gmock.h>

#include "gui/models/network/config_choices.h"
#include "gui/models/network/cut_colour.h"
#include "gui/models/network/layer_table.h"
#include "gui/models/network/network_layout.h"
#include "gui/models/network/network_map.h"
#include "gui/models/network/network_nodes.h"
#include "gui/models/network/parts.h"
#include "gui/models/network/solve_rest.h"
#include "gui/models/text.h"
#include "sim/graph/zoo.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"
#include "tests/gui/models/cases.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Op conv(std::int64_t channels) {
  Convolution op;
  op.out_channels = channels;
  op.windows.h = op.windows.w = {3, 1, 1, 1, 1};
  return op;
}

// input - stem - relu - (left | right - relu2) - join - relu3 - head
Graph diamond() {
  GraphBuilder builder("diamond", 8);
  const LayerId input = builder.add("input", Input{{{1, 3, 1, 8, 8}}}, {});
  const LayerId stem = builder.add("stem", conv(8), {input});
  const LayerId relu = builder.add("relu", Activation{}, {stem});
  const LayerId left = builder.add("mix_left", conv(8), {relu});
  const LayerId right = builder.add("mix_right", conv(8), {relu});
  const LayerId relu2 = builder.add("mix_right_relu", Activation{}, {right});
  const LayerId join = builder.add("mix_join", Add{}, {left, relu2});
  const LayerId relu3 = builder.add("mix_relu", Activation{}, {join});
  builder.add("head", FullyConnected{10, true}, {relu3});
  return std::move(builder).build();
}

std::vector<std::string> names(const Parts& parts, const OpenParts& open) {
  std::vector<std::string> names;
  for (const std::size_t part : parts.visible(open)) names.push_back(parts[part].name);
  return names;
}

TEST(Parts, WhatLiesBetweenASplitAndItsJoinIsABlock) {
  const Graph graph = diamond();
  std::vector<std::string> cuts;
  for (const LayerId layer : unavoidable(graph)) cuts.push_back(graph[layer].name);
  EXPECT_THAT(cuts, ElementsAre("input", "stem", "relu", "mix_join", "mix_relu", "head"));
  const Parts parts(graph);
  EXPECT_THAT(names(parts, parts.blocks_shut()), ElementsAre("input", "stem", "mix", "head"));
  EXPECT_THAT(names(parts, parts.blocks_open()),
              ElementsAre("input", "stem", "mix_left", "mix_right", "mix_join", "head"));
  EXPECT_EQ(names(parts, parts.all_open()).size(), graph.size());
}

TEST(Parts, HoldEveryLayerOnceWhateverIsOpen) {
  for (const char* model : {"lenet5", "vgg16", "resnet50", "inception_v3", "densenet121",
                            "googlenet", "mobilenet_v2"}) {
    SCOPED_TRACE(model);
    const Graph graph = load_model(model, 32);
    const Parts parts(graph);
    for (const OpenParts& open : {parts.blocks_shut(), parts.blocks_open(), parts.all_open()}) {
      std::vector<LayerId> layers;
      for (const std::size_t part : parts.visible(open)) {
        layers.insert(layers.end(), parts[part].layers.begin(), parts[part].layers.end());
      }
      std::sort(layers.begin(), layers.end());
      ASSERT_EQ(layers.size(), graph.size());
      for (std::size_t i = 0; i < layers.size(); ++i) ASSERT_EQ(layers[i], LayerId(i));
    }
    EXPECT_LE(parts.visible(parts.usual()).size(), 120u);
  }
}

TEST(Parts, ModulesOfInceptionAndBlocksOfResnetHaveTheirNames) {
  const auto shut = [](const char* model) {
    const Parts parts(load_model(model, 32));
    return names(parts, parts.blocks_shut());
  };
  EXPECT_THAT(shut("inception_v3"), ::testing::Contains("mixed_6a"));
  EXPECT_THAT(shut("resnet50"), ::testing::Contains("layer3_5"));
}

TEST(Parts, WhatHidesALayerCanBeOpened) {
  const Graph graph = diamond();
  const Parts parts(graph);
  const auto open = parts.showing(graph.find("mix_right_relu"), {});
  EXPECT_THAT(names(parts, open), ElementsAre("input", "stem", "mix_left", "mix_right",
                                              "mix_right_relu", "mix_join", "head"));
}

// A stretch's nodes below its entry, and readers below what they read.
TEST(NetworkLayout, PutsReadersBelow) {
  const Sketch sketch{3, {{Sketch::kEntry, 0}, {Sketch::kEntry, 1}, {0, 2}, {1, 2}}};
  const Drawing drawing = lay_out(sketch);
  EXPECT_LT(drawing.entry.y(), drawing.centres[0].y());
  EXPECT_EQ(drawing.centres[0].y(), drawing.centres[1].y());
  EXPECT_GE(std::abs(drawing.centres[0].x() - drawing.centres[1].x()), kNodeSize.width());
  EXPECT_GE(drawing.centres[2].y(), drawing.centres[0].y() + kNodeSize.height());
  ASSERT_EQ(drawing.curves.size(), 4u);
  for (const QPainterPath& curve : drawing.curves) EXPECT_GT(curve.length(), 1);
}

// Every node reads all before it, as in a dense block: dot would take minutes.
TEST(NetworkLayout, DrawsWhatIsDenseByRanks) {
  Sketch dense{60, {}};
  for (std::uint32_t to = 0; to < dense.nodes; ++to) {
    dense.edges.emplace_back(Sketch::kEntry, to);
    for (std::uint32_t from = 0; from < to; ++from) dense.edges.emplace_back(from, to);
  }
  EXPECT_GT(ranks_passed(dense), 30000u);
  const Drawing drawing = lay_out(dense);
  const QRectF all = QRectF(QPointF(), drawing.size).adjusted(-1, -1, 1, 1);
  ASSERT_EQ(drawing.curves.size(), dense.edges.size());
  for (const QPainterPath& curve : drawing.curves) {
    const QRectF box = curve.boundingRect();
    EXPECT_TRUE(all.contains(box.topLeft()) && all.contains(box.bottomRight()));
  }
  for (std::uint32_t i = 1; i < dense.nodes; ++i) {
    EXPECT_GE(drawing.centres[i].y(), drawing.centres[i - 1].y() + kNodeSize.height());
  }
}

TEST(NetworkLayout, RanksAreTheLongestWays) {
  const Sketch sketch{4, {{Sketch::kEntry, 0}, {0, 1}, {1, 2}, {0, 3}, {2, 3}}};
  EXPECT_THAT(ranks(sketch), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(ranks_passed(sketch), 2u);  // 0 to 3 passes two
}

TEST(NetworkLayout, KnowsWhatItDrew) {
  Drawings drawings;
  const Sketch sketch{2, {{Sketch::kEntry, 0}, {0, 1}}};
  EXPECT_EQ(drawings(sketch), drawings(sketch));
}

TEST(NetworkColumns, FillTheWindowAndNeverOverlap) {
  Drawings drawings;
  std::vector<Stretch> chain(24, {drawings({1, {{Sketch::kEntry, 0}}}), 0, false});
  for (const double aspect : {0.3, 1.0, 1.7, 4.0}) {
    const Sheet sheet = place(chain, aspect);
    std::vector<QRectF> nodes;
    for (const PlacedStretch& stretch : sheet.stretches) nodes.push_back(stretch.nodes.front());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      EXPECT_TRUE(sheet.bounds.contains(nodes[i]));
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(nodes[i].intersects(nodes[j]));
    }
    EXPECT_LT(sheet.bounds.width() / sheet.bounds.height(), 3 * aspect);
    EXPECT_EQ(sheet.connectors.size(), sheet.columns - 1);
  }
  EXPECT_EQ(place(chain, 0.1).columns, 1u);
  EXPECT_GT(place(chain, 4).columns, 4u);
}

// vgg16 on four devices, OWT: the convolutions' outputs move once, into the first layer cut in c.
TEST(NetworkPicture, ShowsWhatMoves) {
  const ScenePtr scene = scene_of("vgg16", "p100-1x4", "owt");
  const Parts parts(scene->input.graph);
  const NetworkPicture picture = network_picture(*scene, parts, parts.usual());
  Bytes sum;
  for (const NetworkEdge& edge : picture.edges) sum += edge.bytes;
  Bytes moved;
  for (const auto& inputs : moved_forward(scene->input.graph, scene->prediction.plan)) {
    for (const Bytes bytes : inputs) moved += bytes;
  }
  EXPECT_EQ(sum, moved);
  EXPECT_GT(sum.value, 0);
  EXPECT_EQ(2 * sum.value, scene->prediction.communication.transfer.value);
  EXPECT_EQ(picture.cuts.size(), 2u);
  Seconds costs;
  for (const NetworkNode& node : picture.nodes) costs += node.terms.total();
  EXPECT_NEAR(costs.value, scene->prediction.eq1_seconds().value, 1e-12);
}

// Within a block its name is the first to give way, and no further than the layers differ.
TEST(NetworkPicture, KnowsWhatNeighboursNamesShare) {
  const ScenePtr scene = scene_of("inception_v3", "p100-1x2");
  const Parts parts(scene->input.graph);
  const NetworkPicture picture = network_picture(*scene, parts, parts.all_open());
  std::size_t shared = 0;
  for (const NetworkNode& node : picture.nodes) {
    ASSERT_LT(node.shared, node.name.size());
    if (node.name.starts_with("mixed_6b_") && node.shared >= 9) ++shared;
  }
  EXPECT_GT(shared, 10u);
}

TEST(ConfigChoices, SayWhyNot) {
  CaseRequest request;
  request.model = "lenet5";
  request.cluster = "p100-1x4";
  request.training.batch = 2;
  const Case input = load_case(request);
  const std::vector<LayerId> conv1 = {input.graph.find("conv1")}, fc = {input.graph.find("fc1")};
  const auto reason = [&](const std::vector<LayerId>& layers, CutAxis axis, std::size_t i,
                          const Degrees& now = kWhole) {
    return degree_choices(input, layers, axis, std::vector(layers.size(), now)).at(i).reason;
  };
  EXPECT_EQ(reason(conv1, Dim::n, 1), "");
  EXPECT_EQ(reason(conv1, Dim::n, 2), "conv1 has 2 samples, fewer than 4 parts");
  EXPECT_EQ(reason(fc, Dim::h, 1), "fc1 has nothing to cut in h");
  EXPECT_EQ(reason(conv1, Dim::h, 2, {{2, 1, 1, 1, 1}}),
            "n=2 x h=4 are 8 shards; the cluster has 4 devices");
  EXPECT_EQ(why_not(input, conv1, {{1, 2, 1, 2, 1}}), "");
  const std::vector<LayerId> pool1 = {input.graph.find("pool1")};
  EXPECT_EQ(reason(fc, {}, 2), "");
  EXPECT_EQ(reason(pool1, {}, 1), "pool1 has no sums to divide");
  EXPECT_THAT(offered_degrees(6, {}), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(offered_degrees(24, {}), ElementsAre(1, 2, 3, 4, 6, 8, 12, 24));
  const std::vector<Degrees> now = {{{6, 1, 1, 1, 1}}, {{1, 12, 1, 1, 1}}};
  EXPECT_THAT(offered_degrees(4, now), ElementsAre(1, 2, 4, 6, 12));
}

// Else nothing is offered but to leave them whole.
bool has_any(const Graph& graph, const std::vector<LayerId>& layers, CutAxis axis) {
  return std::ranges::any_of(
      layers, [&](LayerId layer) { return axis || most_parts_along(graph[layer], axis) > 1; });
}

// What is offered as legal is legal, and what is not is not.
TEST(ConfigChoices, AgreeWithTheValidator) {
  const ScenePtr scene = scene_of("alexnet", "p100-1x6", "data");
  const Case& input = scene->input;
  const auto configs = scene->prediction.strategy.configs();
  for (std::size_t i = 1; i < input.graph.size(); ++i) {
    const std::vector<LayerId> layers = {LayerId(i)};
    for (const CutAxis axis : kCutAxes) {
      if (!has_any(input.graph, layers, axis)) continue;
      const std::vector<Degrees> now = {{{2, 1, 1, 1, 1}}};
      for (const DegreeChoice& choice : degree_choices(input, layers, axis, now)) {
        const Degrees degrees =
            with_degree(input.graph[layers[0]], now.front(), axis, choice.degree);
        std::vector<Config> changed(configs.begin(), configs.end());
        changed[i] = config_on_first_devices(degrees);
        EXPECT_EQ(choice.legal(),
                  validate(Strategy("", changed), input.graph, input.cluster).empty())
            << choice.reason;
      }
    }
  }
}

// Two layers on four devices, the first whole and the second in four: each keeps its own other
// dims, and what is offered is legal for both together.
TEST(ConfigChoices, OfPairsAgreeWithTheValidator) {
  const ScenePtr scene = scene_of("lenet5", "p100-1x4", "data");
  const Case& input = scene->input;
  const auto configs = scene->prediction.strategy.configs();
  const std::vector<Degrees> now = {kWhole, {{2, 2, 1, 1, 1}}};
  for (std::size_t i = 1; i < input.graph.size(); ++i) {
    for (std::size_t j = 1; j < input.graph.size(); ++j) {
      if (i == j || input.graph[LayerId(j)].output[Dim::c] < 2) continue;
      const std::vector<LayerId> layers = {LayerId(i), LayerId(j)};
      for (const CutAxis axis : kCutAxes) {
        if (!has_any(input.graph, layers, axis)) continue;
        for (const DegreeChoice& choice : degree_choices(input, layers, axis, now)) {
          std::vector<Config> changed(configs.begin(), configs.end());
          for (std::size_t k = 0; k < layers.size(); ++k) {
            changed[layers[k]()] = config_on_first_devices(
                with_degree(input.graph[layers[k]], now[k], axis, choice.degree));
          }
          ASSERT_EQ(choice.legal(),
                    validate(Strategy("", changed), input.graph, input.cluster).empty())
              << choice.reason;
        }
      }
    }
  }
}

TEST(LayerTable, IsASoundModelWithEveryLayer) {
  LayerTable table;
  const QAbstractItemModelTester tester(&table,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  const ScenePtr scene = scene_of("lenet5", "p100-1x4", "owt");
  const auto parts = std::make_shared<Parts>(scene->input.graph);
  table.set_scene(scene, parts);
  EXPECT_EQ(table.rowCount(), 14);
  table.set_scene(scene_of("lenet5", "p100-1x4", "data"), parts);
  EXPECT_EQ(table.data(table.index(1, LayerTable::config_column), Qt::DisplayRole).toString(),
            QStringLiteral("n=4"));
  const QStringList lines = table.csv().split(QLatin1Char('\n'));
  EXPECT_EQ(lines.size(), 16);
  EXPECT_EQ(lines[0], QStringLiteral("layer,op,output,config,compute_seconds,transfer_seconds,"
                                     "sync_seconds,moved_bytes,memory_bytes"));
  EXPECT_TRUE(lines[2].startsWith(QStringLiteral("conv1,conv2d,")));
  table.set_scene(nullptr, nullptr);
  EXPECT_EQ(table.rowCount(), 0);
}

TEST(Locks, TurnOnForAllThenOff) {
  const ScenePtr scene = scene_of("lenet5", "p100-1x2", "data");
  const Graph& graph = scene->input.graph;
  const std::vector<LayerId> both = {graph.find("fc1"), graph.find("conv1")};
  Document document = with_locks_turned(scene->document, graph, {graph.find("fc1")});
  EXPECT_THAT(document.locked, ElementsAre("fc1"));
  document = with_locks_turned(document, graph, both);
  EXPECT_THAT(document.locked, ElementsAre("conv1", "fc1"));
  EXPECT_TRUE(with_locks_turned(document, graph, both).locked.empty());
  EXPECT_TRUE(with_locks_turned(scene->document, graph, {graph.find("input")}).locked.empty());
}

TEST(SolveRest, LeavesLockedLayersAlone) {
  const ScenePtr scene = scene_of("lenet5", "p100-1x4", "model");
  Scene locked = *scene;
  locked.document.locked = {"conv2", "fc1"};
  Progress progress;
  const SolvedRest found = solved_rest(locked, {{}, Objective::eq1}, progress);
  EXPECT_TRUE(found.optimal);
  const Strategy& before = scene->prediction.strategy;
  const auto& configs = found.document.strategy.configs;
  for (const char* name : {"conv2", "fc1"}) {
    const LayerId layer = scene->input.graph.find(name);
    EXPECT_EQ(configs.at(layer()), before[layer]);
  }
  EXPECT_LT(found.seconds, scene->prediction.eq1_seconds());
  EXPECT_EQ(found.document.locked, locked.document.locked);
}

TEST(SolveRest, WithoutLocksItIsTheOptimum) {
  const ScenePtr scene = scene_of("lenet5", "p100-1x4", "data");
  Progress progress;
  const SolvedRest eq1 = solved_rest(*scene, {{}, Objective::eq1}, progress);
  EXPECT_EQ(eq1.document.strategy, (StrategyChoice{"eq1", {}}));
  EXPECT_EQ(eq1.seconds, score_eq1(scene->input, load_strategy("eq1", scene->input)).eq1);
  const SolvedRest fastest = solved_rest(*scene, {}, progress);
  EXPECT_EQ(fastest.document.strategy.label(), "best");
  const Strategy same = load_strategy("optimal", scene->input);
  EXPECT_TRUE(std::ranges::equal(fastest.document.strategy.configs, same.configs()));
  EXPECT_EQ(fastest.seconds, predict(scene->input, same).step_seconds());
}

// A unit's layers may be locked as they are, be they cut in two ways.
TEST(SolveRest, ForcesWhatIsAskedAndLocksIt) {
  const ScenePtr scene = scene_of("lenet5", "p100-1x4", "data");
  const Graph& graph = scene->input.graph;
  Scene locked = *scene;
  locked.document.locked = {"tanh1"};
  const Config whole = config_on_first_devices(kWhole);
  Progress progress;
  const SolvedRest found = solved_rest(locked, {{{graph.find("conv1")}, {whole}}}, progress);
  EXPECT_THAT(found.document.locked, ElementsAre("conv1", "tanh1"));
  EXPECT_EQ(found.document.strategy.configs.at(graph.find("conv1")()), whole);
  EXPECT_EQ(found.document.strategy.configs.at(graph.find("tanh1")()).degrees[Dim::n], 4);
}

Config cut_in(std::int32_t n, std::int32_t c) {
  return config_on_first_devices({{n, c, 1, 1, 1}});
}

// By the dims that are cut, and by the degrees; by nothing that was shown before.
TEST(CutColour, FollowsFromTheCut) {
  EXPECT_EQ(colour_of(cut_in(16, 1)), (CutColour{0, 4}));
  EXPECT_EQ(colour_of(cut_in(4, 1)), (CutColour{0, 2}));
  EXPECT_EQ(colour_of(cut_in(1, 4)), (CutColour{1, 4}));
  EXPECT_EQ(colour_of(cut_in(4, 4)), (CutColour{5, 1}));
  EXPECT_EQ(colour_of(cut_in(1, 1)), (CutColour{9, 0}));
  EXPECT_EQ(colour_of(config_on_first_devices({{1, 1, 1, 2, 2}})), (CutColour{2, 3}));
}

// Those that a search tries beside each other on sixteen devices.
TEST(CutColour, TellsCutsApartThatStandBesideEachOther) {
  const std::vector<Config> cuts = {cut_in(16, 1), cut_in(8, 2), cut_in(4, 4), cut_in(2, 8),
                                    cut_in(1, 16), cut_in(8, 1), cut_in(1, 8), cut_in(4, 1),
                                    cut_in(1, 4),  cut_in(2, 1), cut_in(1, 2), cut_in(1, 1)};
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NE(colour_of(cuts[i]), colour_of(cuts[j])) << i << " and " << j;
    }
  }
  Config elsewhere = cut_in(4, 1);
  elsewhere.devices = {DeviceId(4), DeviceId(5), DeviceId(6), DeviceId(7)};
  EXPECT_NE(colour_of(elsewhere), colour_of(cut_in(4, 1)));
}

class NetworkMapTest : public ::testing::Test {
 protected:
  void open(const std::string& model) {
    Document document;
    document.input.model = model;
    document.input.cluster = "p100-1x4";
    workspace_.open(document);
    settle();
  }
  void settle() {
    ASSERT_TRUE(testing::wait_until([&] { return workspace_.jobs().idle() && map_.scene(); }));
  }

  QCoreApplication& application_ = testing::application();
  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  NetworkMap map_{workspace_};
};

TEST_F(NetworkMapTest, OpensAndShutsBlocks) {
  open("resnet50");
  const auto find = [&](const char* name) {
    for (std::size_t i = 0; i < map_.picture().nodes.size(); ++i) {
      if (map_.picture().nodes[i].name == name) return i;
    }
    return map_.picture().nodes.size();
  };
  map_.set_folds(false);
  map_.set_open(map_.parts().blocks_shut());
  settle();
  const std::size_t shut = map_.picture().nodes.size();
  map_.open(map_.picture().nodes.at(find("layer2_1")).part);
  settle();
  EXPECT_EQ(map_.picture().nodes.size(), shut + 3);
  EXPECT_EQ(map_.frames().size(), 1u);
  map_.shut(map_.picture().nodes.at(find("layer2_1_conv2")).part);
  settle();
  EXPECT_EQ(map_.picture().nodes.size(), shut);
  map_.reveal({map_.scene()->input.graph.find("layer4_0_bn2")});
  settle();
  EXPECT_LT(find("layer4_0_bn2"), map_.picture().nodes.size());
}

TEST_F(NetworkMapTest, FollowsEditsAndOtherNetworks) {
  open("lenet5");
  const std::size_t nodes = map_.picture().nodes.size();
  const LayerId conv = map_.scene()->input.graph.find("conv1");
  workspace_.set_config({conv}, config_on_first_devices(kWhole));
  settle();
  const NetworkNode& node = map_.picture().nodes.at(*map_.node_of(conv));
  EXPECT_TRUE(node.mixed());  // the tanh that follows is still cut in four
  EXPECT_EQ(map_.picture().nodes.size(), nodes);
  workspace_.selection().select_layers({conv});
  EXPECT_TRUE(map_.touched(*map_.node_of(conv)));
  EXPECT_FALSE(map_.selected(*map_.node_of(conv)));
  open("alexnet");
  EXPECT_NE(map_.picture().nodes.size(), nodes);
}

TEST_F(NetworkMapTest, FindsByNameOpAndCut) {
  open("lenet5");
  EXPECT_EQ(map_.find(QStringLiteral("CONV1")).size(), 1u);
  EXPECT_EQ(map_.find(QStringLiteral("avg_pool")).size(), 2u);
  EXPECT_EQ(map_.find(QStringLiteral("n=4")).size(), map_.picture().nodes.size() - 1);
  EXPECT_EQ(map_.find(QStringLiteral("tanh4")).size(), 1u);  // within fc2
  EXPECT_TRUE(map_.find(QStringLiteral(" ")).empty());
}

}  // namespace
}  // namespace strata::gui
