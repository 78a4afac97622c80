// The network's view as somebody uses it: clicks, keys, and what they do to the document.

#include "gui/widgets/network/network_view.h"

#include <QClipboard>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <gmock/gmock.h>

#include "gui/models/network/solve_rest.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"
#include "tests/gui/widgets/mouse.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NetworkViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    view_.resize(1200, 700);
    view_.show();
    Document document;
    document.input.model = "lenet5";
    document.input.cluster = "p100-1x4";
    workspace_.open(document);
    settle();
  }
  void settle() {
    ASSERT_TRUE(testing::wait_until(
        [&] { return workspace_.jobs().idle() && view_.map().scene() == workspace_.scene(); }));
  }
  LayerId layer(const char* name) const { return workspace_.scene()->input.graph.find(name); }
  QPoint at(const char* name) {
    return view_.canvas().centre_of(view_.map().node_of(layer(name)).value()).toPoint();
  }
  void click(const char* name, Qt::KeyboardModifiers modifiers = {}) {
    QTest::mouseClick(&view_.canvas(), Qt::LeftButton, modifiers, at(name));
  }
  void drag(const QPoint& from, const QPoint& to, Qt::KeyboardModifiers modifiers = {}) {
    testing::drag(view_.canvas(), from, to, modifiers);
  }
  bool choose(const char* name, const char* text) {
    return testing::choose(view_.canvas(), at(name), text);
  }
  void press(int key, Qt::KeyboardModifiers modifiers = {}) {
    QTest::keyClick(&view_.canvas(), static_cast<Qt::Key>(key), modifiers);
  }
  std::vector<std::string> selected() {
    std::vector<std::string> names;
    for (const LayerId it : workspace_.selection().layers()) {
      names.push_back(workspace_.scene()->input.graph[it].name);
    }
    return names;
  }
  const Config& config(const char* name) const {
    return workspace_.scene()->prediction.strategy[layer(name)];
  }

  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  NetworkView view_{workspace_};
};

// In a window too small for them, and in one that shows a part of the sheet.
TEST_F(NetworkViewTest, APictureHasAllNamesHoweverSmallTheWindowIs) {
  view_.resize(520, 160);
  for (int i = 0; i < 5; ++i) QTest::keyClick(&view_.canvas(), Qt::Key_Plus);
  const QTemporaryDir folder;
  view_.export_to(folder.filePath("network.svg"));
  QFile svg(folder.filePath("network.svg"));
  ASSERT_TRUE(svg.open(QIODevice::ReadOnly));
  const std::string text = svg.readAll().toStdString();
  for (const NetworkNode& node : view_.map().picture().nodes) {
    EXPECT_THAT(text, HasSubstr(">" + node.name + "<"));
  }
}

TEST_F(NetworkViewTest, ClicksSelectLayers) {
  click("conv1");
  EXPECT_THAT(selected(), ElementsAre("conv1", "tanh1"));
  click("pool2", Qt::ControlModifier);
  EXPECT_THAT(selected(), ElementsAre("conv1", "tanh1", "pool2"));
  click("conv1", Qt::ControlModifier);
  EXPECT_THAT(selected(), ElementsAre("pool2"));
  click("conv1");
  click("conv2", Qt::ShiftModifier);
  EXPECT_THAT(selected(), ElementsAre("conv1", "tanh1", "pool1", "conv2", "tanh2"));
  press(Qt::Key_Escape);
  EXPECT_TRUE(selected().empty());
  press(Qt::Key_A, Qt::ControlModifier);
  EXPECT_EQ(selected().size(), workspace_.scene()->input.graph.size());
}

TEST_F(NetworkViewTest, DraggingWithShiftSelectsARectangle) {
  const QPoint corner = view_.canvas().rect().topLeft() + QPoint(1, 1);
  drag(corner, at("pool1"), Qt::ShiftModifier);
  EXPECT_THAT(selected(), ::testing::Contains("pool1"));
  const std::size_t before = selected().size();
  click("fc2", Qt::ControlModifier);
  drag(at("fc2") - QPoint(2, 2), at("fc2") + QPoint(4, 4), Qt::ShiftModifier | Qt::ControlModifier);
  EXPECT_EQ(selected().size(), before);
}

// Alike on a layer and beside it, and what is selected stays so.
TEST_F(NetworkViewTest, DraggingMovesTheSheet) {
  click("conv1");
  for (const QPoint& from : {at("pool1"), view_.canvas().rect().topLeft() + QPoint(1, 1)}) {
    const QPoint before = at("conv1");
    drag(from, from + QPoint(30, 20));
    EXPECT_EQ(at("conv1") - before, QPoint(30, 20));
    EXPECT_THAT(selected(), ElementsAre("conv1", "tanh1"));
  }
  press(Qt::Key_F);
  EXPECT_TRUE(view_.canvas().rect().contains(at("conv1")));
}

TEST_F(NetworkViewTest, AnotherNetworkFitsIntoTheWindow) {
  const QPoint middle = view_.canvas().rect().center();
  for (int i = 0; i < 8; ++i) press(Qt::Key_Plus);
  drag(middle, middle + QPoint(400, 400));
  Document document = workspace_.document();
  document.input.model = "alexnet";
  workspace_.open(document);
  settle();
  EXPECT_TRUE(view_.canvas().rect().contains(at("input")));
  EXPECT_TRUE(view_.canvas().rect().contains(at("loss")));
}

TEST_F(NetworkViewTest, TheKeyboardWalksAndSelects) {
  press(Qt::Key_Down);
  press(Qt::Key_Down);
  EXPECT_THAT(selected(), ElementsAre("conv1", "tanh1"));
  press(Qt::Key_Down, Qt::ShiftModifier);
  EXPECT_THAT(selected(), ElementsAre("conv1", "tanh1", "pool1"));
}

TEST_F(NetworkViewTest, ADegreeIsAnEditThatCanBeUndone) {
  click("fc1");
  QPushButton* whole = view_.panel().degree_button(Dim::n, 1);
  ASSERT_NE(whole, nullptr);
  EXPECT_TRUE(view_.panel().degree_button(Dim::n, 4)->isChecked());
  QPushButton* channels = view_.panel().degree_button(Dim::c, 4);
  EXPECT_FALSE(channels->isEnabled());
  EXPECT_EQ(channels->toolTip(),
            QStringLiteral("n=4 x c=4 are 16 shards; the cluster has 4 devices"));
  QTest::mouseClick(whole, Qt::LeftButton);
  settle();
  EXPECT_EQ(config("fc1").degrees, kWhole);
  EXPECT_EQ(config("tanh3").degrees, kWhole);
  QTest::mouseClick(view_.panel().degree_button(Dim::c, 4), Qt::LeftButton);
  settle();
  EXPECT_EQ(config("fc1").degrees[Dim::c], 4);
  workspace_.undo_stack().undo();
  workspace_.undo_stack().undo();
  settle();
  EXPECT_EQ(config("fc1").degrees[Dim::n], 4);
}

// A click selects fc1 with the tanh that follows it, which has no sums.
TEST_F(NetworkViewTest, SumsCanBeDivided) {
  click("pool1");
  EXPECT_EQ(view_.panel().degree_button({}, 4), nullptr);
  click("fc1");
  workspace_.set_config({layer("fc1")}, config_on_first_devices(kWhole));
  settle();
  QTest::mouseClick(view_.panel().degree_button({}, 4), Qt::LeftButton);
  settle();
  EXPECT_EQ(workspace_.error(), "");
  EXPECT_EQ(config("fc1").degrees.r, 4);
  EXPECT_EQ(config("fc1").degrees.scatter, Dim::n);
  EXPECT_TRUE(view_.panel().degree_button({}, 4)->isChecked());
  QTest::mouseClick(view_.panel().degree_button({}, 1), Qt::LeftButton);
  settle();
  EXPECT_EQ(config("fc1").degrees, kWhole);
}

// conv1 in rows and fc1 in channels: each keeps its own, and what one of them cannot have neither
// is offered.
TEST_F(NetworkViewTest, ADegreeOfSeveralLayersLeavesTheirOtherDimsAlone) {
  workspace_.set_config({layer("conv1"), layer("fc1")},
                        std::vector{config_on_first_devices({{2, 1, 1, 2, 1}}),
                                    config_on_first_devices({{1, 4, 1, 1, 1}})});
  settle();
  workspace_.selection().select_layers({layer("conv1"), layer("fc1")});
  EXPECT_FALSE(view_.panel().degree_button(Dim::n, 2)->isEnabled());
  EXPECT_EQ(view_.panel().degree_button(Dim::n, 2)->toolTip(),
            QStringLiteral("n=2 x c=4 are 8 shards; the cluster has 4 devices"));
  QTest::mouseClick(view_.panel().degree_button(Dim::n, 1), Qt::LeftButton);
  settle();
  EXPECT_EQ(workspace_.error(), "");
  EXPECT_EQ(config("conv1").degrees, (Degrees{{1, 1, 1, 2, 1}}));
  EXPECT_EQ(config("fc1").degrees, (Degrees{{1, 4, 1, 1, 1}}));
}

TEST_F(NetworkViewTest, LocksAndSolvesTheRest) {
  click("fc1");
  QTest::mouseClick(view_.panel().degree_button(Dim::n, 1), Qt::LeftButton);
  settle();
  press(Qt::Key_L);
  EXPECT_THAT(workspace_.document().locked, ElementsAre("fc1", "tanh3"));
  press(Qt::Key_S, Qt::ShiftModifier);
  settle();
  EXPECT_EQ(config("fc1").degrees, kWhole);
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("with the locked layers as they are"));
  EXPECT_EQ(workspace_.document().strategy.source, "optimal");
  workspace_.undo_stack().undo();
  EXPECT_EQ(workspace_.document().strategy.source, "data");
}

TEST_F(NetworkViewTest, AnAnswerToWhatWasEditedIsOnTheScoreboardAlone) {
  const CaseRequest asked = workspace_.document().input;
  press(Qt::Key_S, Qt::ShiftModifier);
  workspace_.set_what_if("link.intra.bandwidth", "2x");
  settle();
  EXPECT_EQ(workspace_.document().strategy.source, "data");
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("the scoreboard has the answer"));
  EXPECT_EQ(workspace_.scoreboard().find(asked)->strategies[1].name(), "best");
}

TEST_F(NetworkViewTest, TheMenuOfALayerDoesWhatKeysDo) {
  EXPECT_TRUE(choose("fc1", "Lock"));
  EXPECT_THAT(selected(), ElementsAre("fc1", "tanh3"));
  EXPECT_THAT(workspace_.document().locked, ElementsAre("fc1", "tanh3"));
  settle();
  EXPECT_TRUE(choose("fc1", "Unlock"));
  EXPECT_TRUE(workspace_.document().locked.empty());
  settle();
  const std::size_t shut = view_.map().picture().nodes.size();
  EXPECT_TRUE(choose("fc1", "Open fc1"));
  settle();
  EXPECT_EQ(view_.map().picture().nodes.size(), shut + 1);
  EXPECT_TRUE(choose("tanh3", "Shut fc1"));
  settle();
  EXPECT_EQ(view_.map().picture().nodes.size(), shut);
  EXPECT_FALSE(choose("input", "Lock"));
}

TEST_F(NetworkViewTest, TheMenuSelectsLayersThatAreAlike) {
  EXPECT_TRUE(choose("pool1", "Select all of avg_pool2d"));
  EXPECT_THAT(selected(), ElementsAre("pool1", "pool2"));
  workspace_.set_config({layer("pool1")}, config_on_first_devices(kWhole));
  settle();
  EXPECT_TRUE(choose("pool1", "Select all that are cut so"));
  EXPECT_THAT(selected(), ElementsAre("pool1"));
  EXPECT_TRUE(choose("pool1", "Copy the name pool1"));
  EXPECT_EQ(QGuiApplication::clipboard()->text(), "pool1");
}

// The cuts that the network has, and why a layer cannot have one.
TEST_F(NetworkViewTest, TheMenuCutsLayersAsOthersAre) {
  workspace_.set_config({layer("fc1")}, config_on_first_devices({{1, 4, 1, 1, 1}}));
  settle();
  EXPECT_TRUE(choose("fc2", "c=4"));
  settle();
  EXPECT_EQ(config("fc2").degrees[Dim::c], 4);
  workspace_.set_config({layer("conv2")}, config_on_first_devices({{1, 1, 1, 2, 1}}));
  settle();
  QMenu* menu = testing::open_menu(view_.canvas(), at("fc2"));
  const QAction* rows = testing::action_of(menu, "h=2");
  ASSERT_NE(rows, nullptr);
  EXPECT_FALSE(rows->isEnabled());
  EXPECT_THAT(rows->toolTip().toStdString(), HasSubstr("nothing to cut in h"));
  menu->close();
}

// Where the keyboard is, and the mouse need not be.
TEST_F(NetworkViewTest, AKeyOpensTheMenuToo) {
  press(Qt::Key_Down);
  press(Qt::Key_Down);
  ASSERT_THAT(selected(), ElementsAre("conv1", "tanh1"));
  QContextMenuEvent asked(QContextMenuEvent::Keyboard, {1, 1}, {1, 1});
  QCoreApplication::sendEvent(&view_.canvas(), &asked);
  auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
  EXPECT_NE(testing::action_of(menu, "Copy the name conv1"), nullptr);
  if (menu != nullptr) menu->close();
}

// The right button during a drag neither ends it nor leaves the mouse as a hand.
TEST_F(NetworkViewTest, AnotherButtonDoesNotEndADrag) {
  NetworkCanvas& canvas = view_.canvas();
  const Qt::CursorShape before = canvas.cursor().shape();
  const QPoint from = canvas.rect().center();
  QTest::mousePress(&canvas, Qt::MiddleButton, {}, from);
  EXPECT_NE(canvas.cursor().shape(), before);
  QTest::mousePress(&canvas, Qt::RightButton, {}, from);
  QTest::mouseRelease(&canvas, Qt::RightButton, {}, from);
  EXPECT_NE(canvas.cursor().shape(), before);
  QTest::mouseRelease(&canvas, Qt::MiddleButton, {}, from);
  EXPECT_EQ(canvas.cursor().shape(), before);
}

TEST_F(NetworkViewTest, TheMenuOfTheSheetHasItsKeys) {
  const std::size_t shut = view_.map().picture().nodes.size();
  const QPoint corner = view_.canvas().rect().topLeft() + QPoint(1, 1);
  EXPECT_TRUE(testing::choose(view_.canvas(), corner, "Show every layer"));
  settle();
  EXPECT_GT(view_.map().picture().nodes.size(), shut);
  EXPECT_TRUE(testing::choose(view_.canvas(), corner, "Select all"));
  EXPECT_EQ(selected().size(), workspace_.scene()->input.graph.size());
}

// In a window that has room for names alone.
TEST_F(NetworkViewTest, ALockIsSeenHoweverSmallTheSheetIs) {
  view_.resize(560, 200);
  settle();
  const QImage before = view_.canvas().grab().toImage();
  workspace_.edit("locks", with_locks_turned(workspace_.document(), workspace_.scene()->input.graph,
                                             {layer("fc1")}));
  settle();
  EXPECT_NE(view_.canvas().grab().toImage(), before);
}

TEST_F(NetworkViewTest, PaintsACutOverLayers) {
  click("conv1");
  QTest::mouseClick(view_.panel().degree_button(Dim::n, 2), Qt::LeftButton);
  settle();
  press(Qt::Key_P);
  EXPECT_TRUE(view_.canvas().painting());
  click("pool1");
  settle();
  EXPECT_EQ(config("pool1").degrees[Dim::n], 2);
  press(Qt::Key_Escape);
  EXPECT_FALSE(view_.canvas().painting());
}

TEST_F(NetworkViewTest, TheTableFollowsTheSelectionAndSetsIt) {
  press(Qt::Key_T);
  workspace_.selection().select_layers({layer("conv2")});
  const auto rows = view_.table().selectionModel()->selectedRows();
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows.front().data().toString(), QStringLiteral("conv2"));
  EXPECT_EQ(view_.table().currentIndex().row(), rows.front().row()) << "keys go on from there";
  view_.table().selectRow(1);
  EXPECT_THAT(selected(), ElementsAre("conv1"));
}

TEST_F(NetworkViewTest, TheTableSortsWhatIsSearched) {
  press(Qt::Key_T);
  view_.search(QStringLiteral("conv"));
  const QAbstractItemModel& model = *view_.table().model();
  const auto shown = [&] {
    std::vector<std::string> names;
    for (int row = 0; row < model.rowCount(); ++row) {
      if (view_.table().isRowHidden(row)) continue;
      names.push_back(model.index(row, LayerTable::name_column).data().toString().toStdString());
    }
    return names;
  };
  EXPECT_THAT(shown(), ElementsAre("conv1", "conv2"));
  view_.table().sortByColumn(LayerTable::name_column, Qt::DescendingOrder);
  EXPECT_THAT(shown(), ElementsAre("conv2", "conv1"));
  int row = 0;
  while (view_.table().isRowHidden(row)) ++row;
  view_.table().selectRow(row);
  EXPECT_THAT(selected(), ElementsAre("conv2"));
  view_.search({});
  EXPECT_EQ(shown().size(), workspace_.scene()->input.graph.size());
}

TEST_F(NetworkViewTest, FoldsBlocksThatRepeat) {
  Document document = workspace_.document();
  document.input.model = "gpt:layers=4,hidden=32,heads=4,seq=16,vocab=64";
  workspace_.open(document);
  settle();
  const int rows = view_.table().model()->rowCount();
  EXPECT_EQ(rows, 3 + 12 + 3);
  click("block1_query");
  EXPECT_THAT(selected(),
              ElementsAre("block1_query", "block2_query", "block3_query", "block4_query"));
  QTest::mouseClick(view_.panel().degree_button(Dim::n, 2), Qt::LeftButton);
  settle();
  EXPECT_EQ(config("block1_query"), config("block4_query"));
  EXPECT_EQ(config("block4_query").degrees[Dim::n], 2);
  EXPECT_EQ(view_.table().selectionModel()->selectedRows().size(), 1);
  press(Qt::Key_R);
  settle();
  EXPECT_EQ(view_.table().model()->rowCount(), rows + 3 * 12);
  click("block3_query");
  EXPECT_THAT(selected(), ElementsAre("block3_query"));
  press(Qt::Key_R);
  settle();
  EXPECT_EQ(view_.table().model()->rowCount(), rows);
  EXPECT_TRUE(view_.map().touched(view_.map().node_of(layer("block3_query")).value()));
}

TEST_F(NetworkViewTest, SearchingFindsAndWalks) {
  view_.search(QStringLiteral("pool"));
  auto* field = view_.findChild<QLineEdit*>();
  QTest::keyClick(field, Qt::Key_Return);
  EXPECT_THAT(selected(), ElementsAre("pool1"));
  QTest::keyClick(field, Qt::Key_Return);
  EXPECT_THAT(selected(), ElementsAre("pool2"));
}

// Nodes have other numbers when every layer is shown: what was found is found again, and a range
// has no end that somebody clicked before.
TEST_F(NetworkViewTest, ForgetsWhichNodesWereMeantWhenPartsOpen) {
  auto* field = view_.findChild<QLineEdit*>();
  QTest::keyClicks(field, QStringLiteral("fc2"));
  click("conv1");
  press(Qt::Key_3);
  settle();
  QTest::keyClick(field, Qt::Key_Return);
  EXPECT_THAT(selected(), ElementsAre("fc2"));
  click("conv2");
  press(Qt::Key_1);
  settle();
  click("fc1", Qt::ShiftModifier);
  EXPECT_THAT(selected(), ElementsAre("fc1", "tanh3"));
}

TEST_F(NetworkViewTest, KeepsThePictureOfTheLastCaseThatIsPredicted) {
  const ScenePtr before = view_.map().scene();
  workspace_.set_what_if("link.intra.bandwidth", "fast");
  ASSERT_TRUE(testing::wait_until([&] { return workspace_.jobs().idle(); }));
  EXPECT_FALSE(workspace_.error().isEmpty());
  EXPECT_EQ(view_.map().scene(), before);
}

TEST_F(NetworkViewTest, TellsItsCommandAndItsTable) {
  EXPECT_EQ(view_.command(),
            QStringLiteral("strata predict lenet5 --cluster p100-1x4 --strategy data"));
  EXPECT_TRUE(view_.csv().startsWith(QStringLiteral("layer,op,output,config")));
  EXPECT_GT(view_.keys().size(), 10u);
}

TEST(EmptyNetworkView, SaysWhatToDo) {
  testing::NoDevices runner;
  Workspace workspace(runner);
  NetworkView view(workspace);
  view.resize(600, 400);
  view.show();
  EXPECT_FALSE(view.grab().isNull());
  QTest::keyClick(&view.canvas(), Qt::Key_S, Qt::ShiftModifier);
  QTest::keyClick(&view.canvas(), Qt::Key_Down);
  QTest::keyClick(&view.canvas(), Qt::Key_L);
  EXPECT_TRUE(view.command().isEmpty());
}

}  // namespace
}  // namespace strata::gui
