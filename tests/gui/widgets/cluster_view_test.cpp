// The device graph: links are picked, scrubbed and edited where they stand.

#include "gui/widgets/cluster/cluster_view.h"

#include <QClipboard>
#include <QFileDialog>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include <gmock/gmock.h>

#include "sim/cluster/cluster_file.h"
#include "sim/cluster/presets.h"
#include "sim/text/file.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"
#include "tests/gui/widgets/mouse.h"

namespace strata::gui {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::wait_until;

class ClusterViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    view_.resize(1100, 700);
    view_.show();
    open("p100-2x2");
  }
  void open(const std::string& cluster) {
    Document document;
    document.input.model = "lenet5";
    document.input.cluster = cluster;
    document.strategy.source = "model";
    workspace_.open(document);
    settle();
  }
  void settle() {
    ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle() && workspace_.scene(); }));
  }
  LinkId link(const char* name) { return workspace_.scene()->input.cluster.find_link(name); }

  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  ClusterView view_{workspace_};
};

TEST_F(ClusterViewTest, AClickPicksALinkAndListsWhatCrossesIt) {
  const LinkId up = view_.canvas().map().edges.front().there.front();
  QTest::mouseClick(&view_.canvas(), Qt::LeftButton, {}, view_.canvas().place_of(up).toPoint());
  settle();
  EXPECT_EQ(workspace_.selection().link(), up);
  EXPECT_GT(view_.transfers().rowCount(), 0);
  EXPECT_NEAR(view_.transfers().total_bytes(), workspace_.scene()->use.link_bytes[up()], 1);
  EXPECT_THAT(view_.csv().toStdString(), HasSubstr("layer,phase,bytes"));
}

TEST_F(ClusterViewTest, AllLinksAreExportedWhereNoneIsPicked) {
  const std::string csv = view_.csv().toStdString();
  const Cluster& cluster = workspace_.scene()->input.cluster;
  EXPECT_THAT(csv, StartsWith("link,bytes,use,transfers\n" + cluster[LinkId(0)].name + ","));
  EXPECT_EQ(std::ranges::count(csv, '\n'), std::ptrdiff_t(cluster.links().size()) + 1);
  EXPECT_THAT(view_.formats(), Contains("csv"));
}

TEST_F(ClusterViewTest, TheStripScrubsTheSelectionsRange) {
  workspace_.selection().select_link(LinkId(0));
  settle();
  const double step = view_.transfers().total_bytes();
  RangeBar& bar = view_.range_bar();
  testing::drag(bar, {bar.width() / 4, 10}, {bar.width() * 2 / 5, 10});
  settle();
  ASSERT_TRUE(workspace_.selection().range());
  const Seconds end = workspace_.scene()->prediction.timeline.makespan();
  EXPECT_NEAR(workspace_.selection().range()->begin / end, 0.25, 0.01);
  EXPECT_NEAR(workspace_.selection().range()->end / end, 0.4, 0.01);
  EXPECT_NE(view_.transfers().total_bytes(), step);
  const Seconds length = workspace_.selection().range()->length();
  testing::drag(bar, {bar.width() * 3 / 10, 10}, {bar.width() * 11 / 20, 10});
  EXPECT_NEAR(workspace_.selection().range()->length() / length, 1, 1e-9);
  EXPECT_NEAR(workspace_.selection().range()->begin / end, 0.5, 0.01);
  QTest::keyClick(&bar, Qt::Key_Left);
  EXPECT_LT(workspace_.selection().range()->begin / end, 0.49);
  QTest::keyClick(&bar, Qt::Key_Escape);
  settle();
  EXPECT_FALSE(workspace_.selection().range());
  EXPECT_EQ(view_.transfers().total_bytes(), step);
}

TEST_F(ClusterViewTest, ABandwidthIsEditedInPlace) {
  const LinkId up = view_.canvas().map().edges.front().there.front();
  const std::string key = "link." + workspace_.scene()->input.cluster[up].name + ".bandwidth";
  QTest::mouseDClick(&view_.canvas(), Qt::LeftButton, {}, view_.canvas().place_of(up).toPoint());
  QLineEdit& field = view_.bandwidth_field();
  ASSERT_TRUE(field.isVisible());
  QTest::keyClicks(&field, "1 GB/s");
  QTest::keyClick(&field, Qt::Key_Return);
  EXPECT_FALSE(field.isVisible()) << "Enter is not for the cluster, which would open it again";
  settle();
  EXPECT_EQ(workspace_.document().what_if(key), "1 GB/s");
  EXPECT_EQ(workspace_.scene()->input.cluster[up].bandwidth.value, 1e9);
  EXPECT_EQ(workspace_.undo_stack().count(), 1);
}

// One message, the field as it was, and no other link.
TEST_F(ClusterViewTest, WhatIsNoBandwidthStaysToBeMended) {
  const LinkId up = view_.canvas().map().edges.front().there.front();
  view_.edit_bandwidth(up, {50, 50});
  QLineEdit& field = view_.bandwidth_field();
  QTest::keyClicks(&field, "quick");
  QTest::keyClick(&field, Qt::Key_Down);
  EXPECT_EQ(workspace_.selection().link(), up);
  QTest::keyClick(&field, Qt::Key_Return);
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("'quick' is not a bandwidth"));
  EXPECT_EQ(view_.notice().count("quick"), 1);
  EXPECT_TRUE(field.isVisible());
  EXPECT_EQ(field.text(), "quick");
  EXPECT_EQ(workspace_.undo_stack().count(), 0);
  EXPECT_EQ(workspace_.error(), "");
  QTest::keyClicks(&field, "2x");
  QTest::keyClick(&field, Qt::Key_Return);
  EXPECT_FALSE(field.isVisible());
  EXPECT_EQ(view_.notice(), "");
  settle();
  EXPECT_EQ(workspace_.undo_stack().count(), 1);
}

TEST_F(ClusterViewTest, TheMenuDoesWhatKeysDo) {
  ClusterCanvas& canvas = view_.canvas();
  const LinkId up = canvas.map().edges.front().there.front();
  const std::string name = workspace_.scene()->input.cluster[up].name;
  const QPoint place = canvas.place_of(up).toPoint();
  EXPECT_FALSE(testing::choose(canvas, place, "The cluster's own bandwidth"));
  EXPECT_EQ(workspace_.selection().link(), up);
  workspace_.set_what_if("link." + name + ".bandwidth", "2x");
  settle();
  EXPECT_TRUE(testing::choose(canvas, place, "The cluster's own bandwidth"));
  EXPECT_EQ(workspace_.document().what_if("link." + name + ".bandwidth"), "");
  settle();
  EXPECT_TRUE(testing::choose(canvas, place, "Copy the name"));
  EXPECT_EQ(QGuiApplication::clipboard()->text().toStdString(), name);
  EXPECT_TRUE(testing::choose(canvas, place, "Another bandwidth"));
  EXPECT_TRUE(view_.bandwidth_field().isVisible());
  const QPoint device = canvas.place_of(DeviceId(1)).toPoint();
  EXPECT_TRUE(testing::choose(canvas, device, "Copy the name gpu1"));
  EXPECT_EQ(workspace_.selection().device(), DeviceId(1));
}

// Use is a share of what a link could carry, so that little of it is pale; bytes are compared with
// those of other links.
TEST_F(ClusterViewTest, UseIsColouredOnAScaleThatStandsStill) {
  const ClusterCanvas& canvas = view_.canvas();
  const std::vector<double>& use = workspace_.scene()->use.links;
  const auto hottest = [&] {
    double most = 0;
    for (const MapEdge& edge : canvas.map().edges) {
      most = std::max({most, canvas.heat(edge.there), canvas.heat(edge.back)});
    }
    return most;
  };
  for (const MapEdge& edge : canvas.map().edges) {
    EXPECT_DOUBLE_EQ(canvas.heat(edge.there), use[edge.there.front()()]);
  }
  EXPECT_LT(hottest(), 0.9);
  EXPECT_TRUE(testing::choose(view_.canvas(), {2, 2}, "Colour links by bytes"));
  EXPECT_DOUBLE_EQ(hottest(), 1);
}

TEST_F(ClusterViewTest, KeysWalkOverLinks) {
  QTest::keyClick(&view_.canvas(), Qt::Key_Period);
  const auto first = workspace_.selection().link();
  ASSERT_TRUE(first);
  QTest::keyClick(&view_.canvas(), Qt::Key_Period);
  EXPECT_NE(workspace_.selection().link(), first);
  QTest::keyClick(&view_.canvas(), Qt::Key_Comma);
  EXPECT_EQ(workspace_.selection().link(), first);
}

TEST_F(ClusterViewTest, AllIsDoneWithTheKeyboard) {
  ClusterCanvas& canvas = view_.canvas();
  QTest::keyClick(&canvas, Qt::Key_Down);
  const auto link = workspace_.selection().link();
  ASSERT_TRUE(link);
  QTest::keyClick(&canvas, Qt::Key_Right);
  ASSERT_TRUE(workspace_.selection().range());
  const Seconds begin = workspace_.selection().range()->begin;
  QTest::keyClick(&canvas, Qt::Key_Right, Qt::ShiftModifier);
  EXPECT_GT(workspace_.selection().range()->begin, begin);
  QTest::keyClick(&canvas, Qt::Key_Escape);
  EXPECT_FALSE(workspace_.selection().range());
  QTest::keyClick(&canvas, Qt::Key_Return);
  EXPECT_TRUE(view_.bandwidth_field().isVisible());
  QTest::keyClicks(&view_.bandwidth_field(), "2x");
  QTest::keyClick(&view_.bandwidth_field(), Qt::Key_Return);
  settle();
  const std::string name = workspace_.scene()->input.cluster[*link].name;
  EXPECT_EQ(workspace_.document().what_if("link." + name + ".bandwidth"), "2x");
}

// What comes of it is the window's business, which reads it in the background.
TEST_F(ClusterViewTest, AFileThatIsChosenIsForTheWindow) {
  const QSignalSpy chosen(&view_, &View::file_chosen);
  QTest::keyClick(&view_.canvas(), Qt::Key_I);
  auto* const dialog = view_.findChild<QFileDialog*>();
  ASSERT_NE(dialog, nullptr);
  emit dialog->fileSelected("two.toml");
  ASSERT_EQ(chosen.count(), 1);
  EXPECT_EQ(chosen[0][0].toString(), "two.toml");
  dialog->close();
}

TEST_F(ClusterViewTest, AnotherShapeOfTheWindowIsFilledOtherwise) {
  open("p100-4x4");
  const QRectF wide = view_.canvas().map().bounds;
  view_.resize(700, 900);
  settle();
  EXPECT_LT(view_.canvas().map().bounds.width(), wide.width());
}

// As in the network: alike on a device and beside it.
TEST_F(ClusterViewTest, DraggingMovesTheSheet) {
  ClusterCanvas& canvas = view_.canvas();
  for (const Qt::KeyboardModifier held : {Qt::NoModifier, Qt::ShiftModifier}) {
    const QPoint before = canvas.place_of(DeviceId(0)).toPoint();
    testing::drag(canvas, before, before + QPoint(30, 20), held);
    EXPECT_EQ(canvas.place_of(DeviceId(0)).toPoint() - before, QPoint(30, 20));
    EXPECT_FALSE(workspace_.selection().device());
  }
}

TEST_F(ClusterViewTest, ADeviceIsPickedToo) {
  const QPoint place = view_.canvas().place_of(DeviceId(2)).toPoint();
  QTest::mouseClick(&view_.canvas(), Qt::LeftButton, {}, place);
  EXPECT_EQ(workspace_.selection().device(), DeviceId(2));
}

TEST_F(ClusterViewTest, OfAnotherClusterNothingOldIsLeft) {
  workspace_.selection().select_link(LinkId(20));
  settle();
  open("k80-1x2");
  EXPECT_FALSE(workspace_.selection().link());
  EXPECT_EQ(view_.canvas().map().nodes.size(), 3);
  EXPECT_EQ(view_.transfers().rowCount(), 0);
}

TEST_F(ClusterViewTest, ManyDevicesAreFolded) {
  open("p100-32x4");
  EXPECT_TRUE(view_.canvas().map().folded);
  EXPECT_EQ(view_.canvas().map().frames.size(), 0);
  view_.canvas().repaint();
}

}  // namespace
}  // namespace strata::gui
