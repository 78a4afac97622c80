// Two scenes side by side: the parts of a step add up to it, and so do the differences.

#include "gui/models/compare/differences.h"

#include <QAbstractItemModelTester>
#include <QItemSelectionModel>
#include <algorithm>
#include <cmath>
#include <map>

#include <gmock/gmock.h>

#include "gui/models/compare/waterfall.h"
#include "sim/base/error.h"
#include "tests/gui/models/cases.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr WaterfallBy kAll[] = {WaterfallBy::layer, WaterfallBy::work, WaterfallBy::eq1_layer,
                                WaterfallBy::eq1_term};

Document document(const std::string& strategy, const std::string& model = "lenet5",
                  const std::string& cluster = "p100-2x2") {
  Document made;
  made.input.model = model;
  made.input.cluster = cluster;
  made.strategy.source = strategy;
  return made;
}

Seconds sum(const std::vector<PathPart>& parts) {
  Seconds all;
  for (const PathPart& part : parts) all += part.seconds;
  return all;
}

// The path has no gap, so there is next to nothing that is left over.
TEST(Contributions, AddUpToTheStep) {
  for (const char* strategy : {"data", "model", "owt", "optimal"}) {
    const ScenePtr made = scene_of(document(strategy, "alexnet"));
    const Seconds step = made->prediction.step_seconds();
    const auto parts = path_contributions(*made);
    EXPECT_NEAR(sum(parts) / step, 1, 1e-9) << strategy;
    for (const PathPart& part : parts) {
      EXPECT_TRUE(part.kind != WorkKind::waiting || part.seconds < step * 1e-6) << strategy;
    }
    EXPECT_NEAR(sum(eq1_contributions(*made)) / made->prediction.eq1_seconds(), 1, 1e-12);
  }
}

// On one device every task stands on the path, so that a layer's forward work is that of its
// tasks: the means and deviations that batch norm takes first are part of it.
TEST(Contributions, CountANormsStatisticsWithThePassThatTakesThem) {
  const ScenePtr made = scene_of(document("data", "mobilenet_v2", "p100-1x1"));
  const Plan& plan = made->prediction.plan;
  std::map<std::pair<LayerId, WorkKind>, Seconds> expected;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    const WorkKind kind = task.phase == Phase::update ? WorkKind::update
                          : task.phase == Phase::forward || task.phase == Phase::forward_statistics
                              ? WorkKind::forward
                              : WorkKind::backward;
    expected[{task.layer, kind}] += made->prediction.costs[i].seconds;
  }
  for (const PathPart& part : path_contributions(*made)) {
    if (part.kind == WorkKind::waiting) continue;
    EXPECT_NEAR(part.seconds / expected.at({part.layer, part.kind}), 1, 1e-6)
        << made->input.graph[part.layer].name << ' ' << name(part.kind);
  }
}

TEST(Waterfall, LeadsFromTheOneToTheOther) {
  const ScenePtr before = scene_of(document("data", "alexnet"));
  const ScenePtr after = scene_of(document("owt", "alexnet"));
  for (const WaterfallBy by : kAll) {
    const std::vector<WaterfallBar> bars = gathered(waterfall(*before, *after, by), 7);
    ASSERT_GE(bars.size(), 3);
    ASSERT_LE(bars.size(), 7);
    EXPECT_TRUE(bars.front().total && bars.back().total);
    EXPECT_EQ(bars.front().from, Seconds{});
    for (std::size_t i = 1; i + 1 < bars.size(); ++i) {
      EXPECT_EQ(bars[i].from, bars[i - 1].to);
      if (i > 1 && !bars[i].what.ends_with("others")) {
        EXPECT_LE(std::abs(bars[i].change().value), std::abs(bars[i - 1].change().value) + 1e-15);
      }
    }
    EXPECT_EQ(bars[bars.size() - 2].to, bars.back().to);
    const bool eq1 = by == WaterfallBy::eq1_layer || by == WaterfallBy::eq1_term;
    const Prediction& now = after->prediction;
    EXPECT_EQ(bars.back().to, eq1 ? now.eq1_seconds() : now.step_seconds());
  }
}

// What is gathered leads from where its first bar began to where its last one ended.
TEST(Waterfall, GathersWhatHasNoRoom) {
  const Seconds s{1};
  const auto bar = [&](const char* what, double from, double to, std::uint32_t layer) {
    return WaterfallBar{what, s * from, s * to, LayerId(layer)};
  };
  const std::vector<WaterfallBar> bars = {{"baseline", {}, s * 10, {}, {}, true},
                                          bar("a", 10, 16, 1),
                                          bar("b", 16, 12, 2),
                                          bar("c", 12, 13, 3),
                                          {"now", {}, s * 13, {}, {}, true}};
  EXPECT_EQ(gathered(bars, 5).size(), 5);
  for (const std::size_t most : {0, 3}) {
    const auto few = gathered(bars, most);
    ASSERT_EQ(few.size(), 3);
    EXPECT_EQ(few[1].what, "3 others");
    EXPECT_EQ(few[1].change(), s * 3);
  }
  const auto some = gathered(bars, 4);
  ASSERT_EQ(some.size(), 4);
  EXPECT_EQ(some[1].what, "a");
  EXPECT_EQ(some[2].what, "2 others");
  EXPECT_EQ(some[2].from, s * 16);
  EXPECT_EQ(some[2].to, s * 13);
  EXPECT_THAT(some[2].gathered, ElementsAre(LayerId(2), LayerId(3)));
}

// The last bar takes what rounding left over: the sums agree without it.
// 10 s to 13 s: as long as they are. 100 s to 97 s: from 88 s on, behind a mark.
TEST(Waterfall, HasAnAxisFromZeroOnOrABrokenOne) {
  const auto bars = [](double before, double after) {
    const Seconds from{before}, to{after};
    return std::vector<WaterfallBar>{
        {"baseline", {}, from, {}, {}, true}, {"a", from, to}, {"now", {}, to, {}, {}, true}};
  };
  const WaterfallAxis whole = axis_of(bars(10, 13));
  EXPECT_FALSE(whole.broken());
  EXPECT_EQ(whole.place({0}), 0);
  EXPECT_DOUBLE_EQ(whole.place({13}) / whole.place({10}), 1.3);
  const WaterfallAxis broken = axis_of(bars(100, 97));
  EXPECT_TRUE(broken.broken());
  EXPECT_DOUBLE_EQ(broken.left_out.value, 88);
  EXPECT_DOUBLE_EQ(broken.place({88}), WaterfallAxis::kBreak);
  EXPECT_DOUBLE_EQ(broken.place({100}), 1);
  EXPECT_EQ(broken.place({0}), 0);
  EXPECT_FALSE(axis_of(bars(100, 100)).broken());
  EXPECT_FALSE(axis_of({}).broken());
}

TEST(Waterfall, IsExactButForRounding) {
  const ScenePtr before = scene_of(document("model")), after = scene_of(document("optimal"));
  const Seconds difference = after->prediction.step_seconds() - before->prediction.step_seconds();
  Seconds all = sum(path_contributions(*after)) - sum(path_contributions(*before));
  EXPECT_NEAR(all.value, difference.value, 1e-12);
}

TEST(Waterfall, OfTheSameIsTwoTotals) {
  const ScenePtr made = scene_of(document("data"));
  for (const WaterfallBy by : kAll) EXPECT_THAT(waterfall(*made, *made, by), SizeIs(2));
  EXPECT_THAT(changed_layers(*made, *made), IsEmpty());
}

TEST(LayerDifferences, TellWhatIsCutOtherwise) {
  const ScenePtr before = scene_of(document("data")), after = scene_of(document("model"));
  const std::vector<LayerDifference> lines = changed_layers(*before, *after);
  const auto conv = std::find_if(lines.begin(), lines.end(),
                                 [](const LayerDifference& line) { return line.layer == "conv1"; });
  ASSERT_NE(conv, lines.end());
  EXPECT_TRUE(conv->recut);
  EXPECT_EQ(conv->cut_before, "n=4");
  EXPECT_EQ(conv->cut_after, "c=4");
  Seconds change;
  for (const LayerDifference& line : lines) change += line.eq1_change();
  const Seconds all = after->prediction.eq1_seconds() - before->prediction.eq1_seconds();
  EXPECT_NEAR(change.value, all.value, 1e-12);
}

TEST(LayerDifferences, StandBesideNetworksThatDiffer) {
  const ScenePtr before = scene_of(document("data", "alexnet")), after = scene_of(document("data"));
  const std::vector<LayerDifference> lines = layer_differences(*before, *after);
  EXPECT_TRUE(
      std::any_of(lines.begin(), lines.end(), [](const auto& line) { return !line.before; }));
  EXPECT_TRUE(
      std::any_of(lines.begin(), lines.end(), [](const auto& line) { return !line.after; }));
  const auto bars = waterfall(*before, *after, WaterfallBy::layer);
  EXPECT_EQ(bars.back().to, after->prediction.step_seconds());
  EXPECT_THAT(other_case(*before, *after), HasSubstr("another network (alexnet; "));
  EXPECT_EQ(other_case(*after, *after), "");
}

// Both end in a layer of this name, and have another number for it.
TEST(LayerDifferences, FindALayersNamesakes) {
  const ScenePtr lenet = scene_of(document("data")),
                 alexnet = scene_of(document("data", "alexnet"));
  const LayerId here = lenet->input.graph.find("loss"), there = alexnet->input.graph.find("loss");
  EXPECT_NE(here, there);
  EXPECT_THAT(same_layers(*lenet, {here}, *alexnet), ElementsAre(there));
  EXPECT_THAT(same_layers(*lenet, {lenet->input.graph.find("conv2")}, *alexnet), IsEmpty());
  EXPECT_THAT(same_layers(*lenet, {LayerId(9999)}, *alexnet), IsEmpty());
}

// Which way round: the side that gives is named first.
TEST(LayerDifferences, CutsAreTakenOverFromEitherSide) {
  const ScenePtr before = scene_of(document("model")), after = scene_of(document("data"));
  const LayerId conv = after->input.graph.find("conv1");
  const Document given = with_cuts_of(*after, *before, {"conv1"});
  EXPECT_EQ(given.strategy.source, "model");
  EXPECT_EQ(given.strategy.configs[conv()], after->prediction.strategy[conv]);
}

TEST(LayerDifferences, CutsAreTakenOver) {
  const ScenePtr before = scene_of(document("model"));
  Document found = document("data");
  found.strategy.configs.assign(14, config_on_first_devices(kWhole));
  found.strategy.found = "best";
  const ScenePtr after = scene_of(found);
  const Document next = with_cuts_of(*before, *after, {"conv1", "no such layer"});
  const LayerId conv = after->input.graph.find("conv1");
  EXPECT_TRUE(next.strategy.edited());
  EXPECT_EQ(next.strategy.label(), "best, edited") << "no search found it so";
  EXPECT_EQ(next.strategy.configs[conv()], before->prediction.strategy[conv]);
  for (std::size_t i = 0; i < next.strategy.configs.size(); ++i) {
    if (i != conv()) {
      EXPECT_EQ(next.strategy.configs[i], after->prediction.strategy[LayerId(i)]);
    }
  }
}

// What no row tells of is waiting, and the network's inputs.
TEST(LayerDifferences, AddUpWithWhatHasNoRow) {
  const ScenePtr before = scene_of(document("model")), after = scene_of(document("data"));
  const auto rowless = [](const Scene& side) {
    Seconds sum;
    for (const PathPart& part : path_contributions(side)) {
      const bool layer = part.layer.valid() && !is_input(side.input.graph[part.layer].op);
      if (!layer) sum += part.seconds;
    }
    return sum;
  };
  Seconds change = rowless(*after) - rowless(*before);
  for (const LayerDifference& row : layer_differences(*before, *after)) change += row.step_change();
  const Seconds all = after->prediction.step_seconds() - before->prediction.step_seconds();
  EXPECT_NEAR(change.value, all.value, 1e-12);
}

// Cells are told apart by what is in them, and names stay as they are.
TEST(DifferenceTable, IsWrittenAsItStands) {
  LayerDifference row;
  row.layer = "conv 3,3 \"same\"";
  row.cut_before = "n=2, placed";
  row.cut_after = "n=4";
  DifferenceTable table;
  table.show({row});
  EXPECT_THAT(table.csv().toStdString(),
              HasSubstr("\n\"conv 3,3 \"\"same\"\"\",\"n=2, placed\",n=4,"));
}

TEST(DifferenceTable, ThePickedLayerStaysPicked) {
  const ScenePtr before = scene_of(document("data")), after = scene_of(document("model"));
  DifferenceTable table;
  const QAbstractItemModelTester tester(&table);
  table.show(layer_differences(*before, *after));
  table.sort(DifferenceTable::layer, Qt::AscendingOrder);
  QItemSelectionModel picked(&table);
  picked.select(table.index(0, 0), QItemSelectionModel::Select | QItemSelectionModel::Rows);
  const std::string layer = table.rows()[0].layer;
  table.sort(DifferenceTable::layer, Qt::DescendingOrder);
  ASSERT_NE(table.rows()[0].layer, layer);
  ASSERT_EQ(picked.selectedRows().size(), 1);
  const int row = picked.selectedRows().front().row();
  EXPECT_EQ(table.rows()[static_cast<std::size_t>(row)].layer, layer);
}

TEST(DifferenceTable, IsATableThatSorts) {
  const ScenePtr before = scene_of(document("data")), after = scene_of(document("model"));
  DifferenceTable table;
  const QAbstractItemModelTester tester(&table);
  table.show(changed_layers(*before, *after));
  ASSERT_GT(table.rowCount(), 2);
  table.sort(DifferenceTable::eq1, Qt::DescendingOrder);
  EXPECT_GE(table.rows()[0].eq1_change(), table.rows()[1].eq1_change());
  EXPECT_EQ(table.csv().count('\n'), table.rowCount() + 1);
  table.show(layer_differences(*before, *after));
  for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
    table.sort(DifferenceTable::layer, order);
    const auto& rows = table.rows();
    EXPECT_TRUE(std::is_partitioned(rows.begin(), rows.end(),
                                    [](const LayerDifference& row) { return row.changed(); }));
  }
  EXPECT_EQ(signed_seconds({-0.0025}), "-2.5 ms");
  EXPECT_EQ(signed_seconds({0}), "");
}

// Those that are only of another cost stand below.
TEST(DifferenceTable, ListsWhatIsCutOtherwiseFirst) {
  const ScenePtr before = scene_of(document("data", "alexnet")),
                 after = scene_of(document("owt", "alexnet"));
  DifferenceTable table;
  table.show(changed_layers(*before, *after));
  table.sort(DifferenceTable::layer, Qt::AscendingOrder);
  const auto& rows = table.rows();
  EXPECT_TRUE(std::ranges::is_partitioned(rows, &LayerDifference::recut));
  EXPECT_TRUE(rows.front().recut);
  EXPECT_FALSE(rows.back().recut) << "else the test tells nothing";
}

}  // namespace
}  // namespace strata::gui
