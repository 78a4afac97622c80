// The scene beside its baseline: baselines are chosen, and cuts taken over.

#include "gui/widgets/compare/compare_view.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include <gmock/gmock.h>

#include "gui/widgets/compare/linked_timelines.h"
#include "sim/strategy/strategy_file.h"
#include "sim/text/file.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::wait_until;

class CompareViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    view_.resize(1200, 800);
    view_.show();
    view_.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&view_));
    Document document;
    document.input.model = "lenet5";
    document.input.cluster = "p100-2x2";
    document.strategy.source = "model";
    workspace_.open(document);  // beside it stands data parallelism
    settle();
  }
  void settle() {
    ASSERT_TRUE(wait_until(
        [&] { return workspace_.jobs().idle() && workspace_.scene() && workspace_.baseline(); }));
  }
  void choose(int index) {
    emit view_.baseline_choice().activated(index);
    settle();
  }
  int row_of(const char* layer) {
    const auto& rows = view_.differences().rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].layer == layer) return static_cast<int>(i);
    }
    return -1;
  }
  std::vector<std::string> bar_names() {
    std::vector<std::string> names;
    for (const WaterfallBar& bar : view_.waterfall_plot().bars()) names.push_back(bar.what);
    return names;
  }

  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  CompareView view_{workspace_};
};

TEST_F(CompareViewTest, ShowsChangedLayersAndAWaterfallThatAddsUp) {
  EXPECT_GE(row_of("conv1"), 0);
  const auto& bars = view_.waterfall_plot().bars();
  ASSERT_GT(bars.size(), 2);
  EXPECT_EQ(bars.front().to, workspace_.baseline()->prediction.step_seconds());
  EXPECT_EQ(bars.back().to, workspace_.scene()->prediction.step_seconds());
  view_.show_by(WaterfallBy::eq1_term);
  EXPECT_EQ(view_.waterfall_plot().bars().back().to, workspace_.scene()->prediction.eq1_seconds());
  EXPECT_EQ(view_.command().toStdString(),
            "strata diff data model --model lenet5 --cluster p100-2x2");
}

TEST_F(CompareViewTest, CutsAreTakenOverAsOneEdit) {
  view_.table().setFocus();
  view_.table().selectRow(row_of("conv1"));
  EXPECT_EQ(workspace_.selection().layers().size(), 1);
  QTest::keyClick(&view_.table(), Qt::Key_Return);
  settle();
  EXPECT_EQ(workspace_.undo_stack().count(), 1);
  const LayerId conv = workspace_.scene()->input.graph.find("conv1");
  EXPECT_EQ(workspace_.scene()->prediction.strategy[conv],
            workspace_.baseline()->prediction.strategy[conv]);
  workspace_.undo_stack().undo();
  settle();
  EXPECT_EQ(workspace_.scene()->document.strategy.source, "model");
  EXPECT_FALSE(workspace_.scene()->document.strategy.edited());
}

TEST_F(CompareViewTest, ThePickedLayerStaysPickedHoweverTheTableIsSorted) {
  FittedTable& table = view_.table();
  table.setFocus();
  table.sortByColumn(DifferenceTable::layer, Qt::AscendingOrder);
  const int first = row_of("conv1");
  table.selectRow(first);
  table.sortByColumn(DifferenceTable::layer, Qt::DescendingOrder);
  ASSERT_NE(row_of("conv1"), first);
  EXPECT_THAT(table.picked_rows(), ElementsAre(static_cast<std::size_t>(row_of("conv1"))));
  QTest::keyClick(&table, Qt::Key_Return);
  settle();
  const LayerId conv = workspace_.scene()->input.graph.find("conv1");
  EXPECT_EQ(workspace_.scene()->prediction.strategy[conv],
            workspace_.baseline()->prediction.strategy[conv]);
}

// The scene that is shown is older than the document: what is made of it would take the edit back.
TEST_F(CompareViewTest, NothingIsTakenOverWhileAnEditIsPredicted) {
  view_.table().selectRow(row_of("conv1"));
  workspace_.set_strategy({"owt"});
  view_.take_over();
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("not predicted yet"));
  view_.give_over();
  EXPECT_EQ(workspace_.document().strategy, StrategyChoice{"owt"});
  EXPECT_EQ(workspace_.undo_stack().count(), 1);
  settle();
  EXPECT_EQ(view_.notice(), "");
  EXPECT_FALSE(workspace_.baseline()->document.strategy.edited());
}

// Of two that are given one after the other, the second is not made without the first.
TEST_F(CompareViewTest, NothingIsGivenWhileTheBaselineIsPredicted) {
  view_.table().selectRow(row_of("conv1"));
  view_.give_over();
  view_.table().selectRow(row_of("conv2"));
  view_.give_over();
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("not predicted yet"));
  settle();
  const LayerId conv = workspace_.scene()->input.graph.find("conv1");
  EXPECT_EQ(workspace_.baseline()->prediction.strategy[conv],
            workspace_.scene()->prediction.strategy[conv]);
}

TEST_F(CompareViewTest, TheBaselineTakesCutsToo) {
  view_.table().setFocus();
  view_.table().selectRow(row_of("conv1"));
  QTest::keyClick(&view_.table(), Qt::Key_Return, Qt::ShiftModifier);
  settle();
  const LayerId conv = workspace_.scene()->input.graph.find("conv1");
  EXPECT_EQ(workspace_.baseline()->prediction.strategy[conv],
            workspace_.scene()->prediction.strategy[conv]);
  EXPECT_EQ(workspace_.undo_stack().count(), 1);
  view_.table().clearSelection();
  view_.give_over();
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("Select the layers"));
}

// As large as it is in a window of the usual size: what has no room beside the rest takes turns.
TEST_F(CompareViewTest, ASmallViewShowsOneThingWell) {
  auto* timelines = view_.findChild<LinkedTimelines*>();
  EXPECT_FALSE(view_.pages().isVisible());
  EXPECT_TRUE(view_.table().isVisible() && timelines->isVisible());
  view_.resize(700, 350);
  QCoreApplication::processEvents();
  EXPECT_GE(view_.pages().width(), view_.pages().sizeHint().width());
  FittedTable& table = view_.table();
  EXPECT_FALSE(view_.waterfall_plot().isVisible() || timelines->isVisible());
  EXPECT_GE(table.columnWidth(DifferenceTable::layer),
            static_cast<QAbstractItemView&>(table).sizeHintForColumn(DifferenceTable::layer));
  view_.pages().setCurrentIndex(1);
  EXPECT_TRUE(view_.waterfall_plot().isVisible() && !table.isVisible());
  view_.pages().setCurrentIndex(2);
  QCoreApplication::processEvents();
  EXPECT_FALSE(view_.waterfall_plot().isVisible() || table.isVisible());
  EXPECT_GT(timelines->upper().viewport()->height(), 5 * view_.fontMetrics().height());
  EXPECT_GT(timelines->lower().viewport()->height(), 5 * view_.fontMetrics().height());
  view_.resize(1200, 800);
  QCoreApplication::processEvents();
  EXPECT_TRUE(view_.waterfall_plot().isVisible() && table.isVisible() && timelines->isVisible());
}

// However low it is, its lines are as high as text, and its bars add up.
TEST_F(CompareViewTest, AWaterfallWithoutRoomGathersItsLeastBars) {
  WaterfallPlot& plot = view_.waterfall_plot();
  view_.resize(700, 300);
  view_.pages().setCurrentIndex(1);
  QCoreApplication::processEvents();
  const auto& bars = plot.bars();
  ASSERT_GE(bars.size(), 3);
  EXPECT_LE((static_cast<double>(bars.size()) + 1) * plot.fontMetrics().height(), plot.height());
  EXPECT_EQ(bars[bars.size() - 2].to, workspace_.scene()->prediction.step_seconds());
}

// 100 s to 97 s: each total has a gap where its bar is torn; 100 s to 50 s: none has.
TEST(WaterfallPlotTest, TearsTheTotalsWhereItsAxisIsBroken) {
  const auto runs_of_first_total = [](double after) {
    WaterfallPlot plot;
    plot.resize(600, 200);
    const Seconds from{100}, to{after};
    plot.show_bars(
        {{"baseline", {}, from, {}, {}, true}, {"a", from, to}, {"now", {}, to, {}, {}, true}},
        "title", "caption");
    const QImage image = plot.grab().toImage();
    const QRgb bar = theme_of(plot.palette()).accent.rgb();
    const int line = plot.fontMetrics().height();
    const int y = static_cast<int>(1.35 * line * 1.5) + 8;  // in the middle of the first bar
    int runs = 0;
    for (int x = 1; x < image.width(); ++x) {
      if (image.pixel(x, y) == bar && image.pixel(x - 1, y) != bar) ++runs;
    }
    return runs;
  };
  EXPECT_EQ(runs_of_first_total(97), 2);
  EXPECT_EQ(runs_of_first_total(50), 1);
}

TEST_F(CompareViewTest, AllLayersAreListedWhereWanted) {
  const int changed = view_.differences().rowCount();
  view_.table().setFocus();
  QTest::keyClick(&view_.table(), Qt::Key_A);
  EXPECT_EQ(view_.differences().rows().size(),
            layer_differences(*workspace_.baseline(), *workspace_.scene()).size());
  view_.waterfall_plot().setFocus();
  QTest::keyClick(&view_.waterfall_plot(), Qt::Key_A);
  EXPECT_EQ(view_.differences().rowCount(), changed);
}

TEST_F(CompareViewTest, AnotherNetworkIsComparedByNames) {
  const Document lenet = workspace_.baseline()->document;
  Document other = workspace_.document();
  other.input.model = "alexnet";
  workspace_.edit("another network", other);
  workspace_.set_baseline(lenet);
  settle();
  EXPECT_THAT(view_.summary().toStdString(), HasSubstr("another network (lenet5"));
  EXPECT_GE(row_of("conv1"), 0);
}

TEST_F(CompareViewTest, OtherBaselinesAreChosen) {
  choose(2);
  EXPECT_EQ(workspace_.baseline()->prediction.strategy.name(), "owt");
  choose(3);
  EXPECT_EQ(workspace_.baseline()->prediction.strategy.name(), "eq1");
  choose(4);
  EXPECT_EQ(workspace_.baseline()->prediction.strategy.name(), "optimal");
  choose(5);
  EXPECT_EQ(workspace_.baseline(), workspace_.scene());
  EXPECT_EQ(view_.differences().rowCount(), 0);
  EXPECT_EQ(view_.waterfall_plot().bars().size(), 2);
}

TEST_F(CompareViewTest, SelectionGoesBothWays) {
  const LayerId conv = workspace_.scene()->input.graph.find("conv2");
  workspace_.selection().select_layers({conv});
  EXPECT_TRUE(view_.table().selectionModel()->isRowSelected(row_of("conv2"), {}));
  std::vector<LayerId> order;  // as the bars stand
  for (const WaterfallBar& bar : view_.waterfall_plot().bars()) {
    if (bar.layer) order.push_back(*bar.layer);
  }
  ASSERT_GE(order.size(), 2);
  workspace_.selection().select_layers({order[1]});
  QTest::keyClick(&view_.waterfall_plot(), Qt::Key_Up);
  EXPECT_THAT(workspace_.selection().layers(), ElementsAre(order[0]));
  const std::string& name = workspace_.scene()->input.graph[order[0]].name;
  EXPECT_TRUE(view_.table().selectionModel()->isRowSelected(row_of(name.c_str()), {}));
}

TEST_F(CompareViewTest, SaysWhatToDoWithoutABaseline) {
  workspace_.clear_baseline();
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("Choose what to compare with"));
  EXPECT_EQ(view_.csv(), "");
  EXPECT_EQ(view_.command(), "");
}

TEST_F(CompareViewTest, BothTimelinesShowTheSameTime) {
  auto* timelines = view_.findChild<LinkedTimelines*>();
  ASSERT_NE(timelines, nullptr);
  ASSERT_TRUE(timelines->lower().recording(0));
  ASSERT_TRUE(timelines->upper().recording(0));
  QTest::keyClick(&timelines->lower(), Qt::Key_W);
  EXPECT_FALSE(timelines->lower().window().shows_all());
  EXPECT_EQ(timelines->upper().window(), timelines->lower().window());
}

// Through a parameter server, four steps of one take so much longer that the compared ones do not
// overlap where each is drawn in its own time.
TEST_F(CompareViewTest, TheComparedStepsBeginTogether) {
  Document served = workspace_.document();
  served.input.model = "alexnet";
  served.strategy.source = "owt";
  served.input.training.sync = {SyncAlgorithm::ps, kUsualBucket};
  workspace_.open(served);
  settle();
  auto* timelines = view_.findChild<LinkedTimelines*>();
  const TimelineCanvas &upper = timelines->upper(), &lower = timelines->lower();
  const TimeRange before = *upper.recording(0)->step, now = *lower.recording(0)->step;
  ASSERT_TRUE(before.begin > now.end || now.begin > before.end);
  const Seconds longer = std::max(before.length(), now.length());
  EXPECT_EQ(upper.window(), lower.window());
  EXPECT_LT(lower.window().begin(), now.begin.value);
  EXPECT_GT(lower.window().end(), (now.begin + longer).value);
  EXPECT_LT(lower.window().length(), 1.1 * longer.value);
  QTest::keyClick(&timelines->upper(), Qt::Key_F);
  EXPECT_TRUE(upper.window().shows_all());
  EXPECT_TRUE(lower.window().shows_all());
}

// Both the table and the timelines have an A and a W: that of the focus counts.
TEST_F(CompareViewTest, TheTimelinesHaveTheirOwnKeys) {
  auto* timelines = view_.findChild<LinkedTimelines*>();
  ASSERT_NE(timelines, nullptr);
  TimelineCanvas& upper = timelines->upper();
  ASSERT_TRUE(upper.recording(0));
  const int changed = view_.differences().rowCount();
  const std::vector<std::string> bars = bar_names();
  const TimeWindow all = upper.window();
  upper.setFocus();
  for (int i = 0; i < 5; ++i) QTest::keyClick(&upper, Qt::Key_W);
  const TimeWindow closer = upper.window();
  EXPECT_LT(closer.length(), 0.5 * all.length());
  EXPECT_EQ(timelines->lower().window(), closer);
  QTest::keyClick(&upper, Qt::Key_D);
  const TimeWindow right = upper.window();
  QTest::keyClick(&upper, Qt::Key_A);
  EXPECT_LT(upper.window().begin(), right.begin());
  EXPECT_EQ(view_.differences().rowCount(), changed);
  EXPECT_EQ(bar_names(), bars);
  view_.waterfall_plot().setFocus();
  QTest::keyClick(&view_.waterfall_plot(), Qt::Key_W);
  EXPECT_NE(bar_names(), bars);
}

TEST_F(CompareViewTest, AFileThatIsNoStrategyIsRefusedInPlace) {
  QSignalSpy failed(&workspace_, &Workspace::failed), opened(&view_, &View::opened);
  EXPECT_TRUE(view_.open("/nowhere/strategy.json"));
  EXPECT_TRUE(wait_until([&] { return failed.count() > 0; }));
  EXPECT_FALSE(view_.open("/nowhere/model.toml"));
  EXPECT_EQ(opened.count(), 0);
}

TEST_F(CompareViewTest, SaysThatAStrategyCouldBeRead) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("mine.json");
  const Scene& scene = *workspace_.scene();
  write_file_whole(file.toStdString(), print_strategy(scene.prediction.strategy, scene.input.graph,
                                                      scene.input.cluster));
  QSignalSpy opened(&view_, &View::opened);
  EXPECT_TRUE(view_.open(file));
  ASSERT_TRUE(wait_until([&] { return opened.count() > 0; }));
  EXPECT_EQ(opened[0][0].toString(), file);
  workspace_.set_baseline(workspace_.baseline()->document);
  settle();
  EXPECT_EQ(opened.count(), 1);
}

}  // namespace
}  // namespace strata::gui
