// A timeline of many devices: those that do the same are one row, which opens and closes.

#include <QMouseEvent>
#include <QTest>
#include <algorithm>

#include <gtest/gtest.h>

#include "gui/widgets/timeline/timeline_view.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {
namespace {

using testing::wait_until;

class ManyDevicesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    view_.resize(1200, 700);
    view_.show();
    Document document;
    document.input.model = "lenet5";
    document.input.cluster = "p100-8x4";
    workspace_.open(document);
    settle();
  }
  void settle() {
    ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  }
  const Recording& shown() { return *canvas_.recording(0); }
  void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(&canvas_, key, modifiers);
  }
  // In the middle of the mark before the group's name.
  QPoint mark_of(std::size_t group) {
    for (int y = 0; y < canvas_.viewport()->height(); ++y) {
      for (const int x : {4, 18, 30}) {
        if (canvas_.fold_at({x, y}) == &canvas_.groups()[group]) return {x, y + 4};
      }
    }
    ADD_FAILURE() << "no mark of group " << group;
    return {};
  }
  std::size_t group_of(const std::string& name, std::size_t count) {
    const auto& groups = canvas_.groups();
    const auto found = std::ranges::find_if(
        groups, [&](const RowGroup& group) { return group.name == name && group.count == count; });
    EXPECT_NE(found, groups.end()) << name;
    return static_cast<std::size_t>(found - groups.begin());
  }

  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  TimelineView view_{workspace_};
  TimelineCanvas& canvas_ = view_.canvas();
};

// 32 devices under data parallelism are one group, then eight hosts, then four devices each.
TEST_F(ManyDevicesTest, FoldAndOpenByTheirMarks) {
  EXPECT_TRUE(canvas_.folded());
  EXPECT_LT(canvas_.rows().size(), 16);
  QTest::mouseClick(canvas_.viewport(), Qt::LeftButton, {}, mark_of(group_of("host0/gpu0", 32)));
  const auto in_hosts = canvas_.rows().size();
  QTest::mouseClick(canvas_.viewport(), Qt::LeftButton, {}, mark_of(group_of("host2", 4)));
  EXPECT_GT(canvas_.rows().size(), in_hosts);
  group_of("host2/gpu11", 1);
  EXPECT_FALSE(workspace_.selection().device()) << "a mark selects nothing";
  view_.grab();
  const QPointF there = mark_of(group_of("host2", 4));
  QMouseEvent moved(QEvent::MouseMove, there, canvas_.viewport()->mapToGlobal(there), Qt::NoButton,
                    Qt::NoButton, Qt::NoModifier);
  QApplication::sendEvent(canvas_.viewport(), &moved);
  key(Qt::Key_G);
  EXPECT_EQ(canvas_.rows().size(), in_hosts);
}

TEST_F(ManyDevicesTest, ATaskIsShownAtTheDeviceThatStandsForIts) {
  const Recording& recording = shown();
  const auto on = [&](std::size_t device) {
    for (std::uint32_t i = 0; i < recording.lanes.size(); ++i) {
      const Lane& lane = recording.lanes[i];
      if (lane.name().kind != LaneKind::device || lane.name().device != DeviceId(device)) continue;
      const auto first = lane.beginning_at(recording.step->begin.value);
      return SliceAddress{0, {i, static_cast<std::uint32_t>(first)}};
    }
    return SliceAddress();
  };
  EXPECT_EQ(canvas_.box_of(on(17)), canvas_.box_of(on(0)));
  canvas_.select(on(17), true);
  key(Qt::Key_Period);
  EXPECT_EQ(canvas_.selected()->place.lane, on(17).place.lane);
  view_.grab();
}

// In a group that is open its hosts stand as one line each: nothing stands for a device's streams.
TEST_F(ManyDevicesTest, ATaskThatNoRowStandsForIsNotFramed) {
  canvas_.setFocus();
  QTest::mouseClick(canvas_.viewport(), Qt::LeftButton, {}, mark_of(group_of("host0/gpu0", 32)));
  const Recording& recording = shown();
  int unframed = 0;
  for (std::uint32_t lane = 0; lane < recording.lanes.size(); ++lane) {
    const Lane& own = recording.lanes[lane];
    if (own.slices().empty() || !stands_for_tasks(own.name().kind)) continue;
    const SliceAddress slice{0, {lane, 0}};
    canvas_.select(slice, true);
    view_.grab();
    const bool streams = own.name().kind == LaneKind::stream;
    if (streams && canvas_.box_of(slice).isEmpty()) ++unframed;
  }
  EXPECT_GT(unframed, 0);
}

TEST_F(ManyDevicesTest, CanAllBeShown) {
  key(Qt::Key_G, Qt::ShiftModifier);
  EXPECT_FALSE(canvas_.folded());
  EXPECT_EQ(canvas_.rows().size(), shown().lanes.size());
  view_.grab();
  QTest::mouseClick(canvas_.viewport(), Qt::LeftButton, {}, mark_of(group_of("host0/gpu0", 1)));
  EXPECT_LT(canvas_.rows().size(), shown().lanes.size());
  group_of("host0", 4);
}

// Of 288 devices one of each class is simulated; the others have its lanes.
TEST_F(ManyDevicesTest, AreSimulatedByClassesWhereTheyAreHundreds) {
  Document document = workspace_.document();
  document.input.cluster = "p100-72x4";
  document.strategy.source = "owt";
  workspace_.open(document);
  settle();
  ASSERT_NE(workspace_.scene()->prediction.plan.classes(), nullptr);
  EXPECT_TRUE(canvas_.folded());
  EXPECT_LT(canvas_.rows().size(), shown().lanes.size() / 5);
  key(Qt::Key_G, Qt::ShiftModifier);
  EXPECT_EQ(canvas_.rows().size(), shown().lanes.size() + canvas_.recording(1)->lanes.size());
  const Recording& recording = shown();
  for (std::uint32_t lane = 0; lane < recording.lanes.size(); ++lane) {
    if (recording.lanes[lane].name().device != DeviceId(150)) continue;
    canvas_.set_range(std::nullopt);
    canvas_.select(SliceAddress{0, {lane, 0}}, true);
    canvas_.fit();
    const QPoint there = canvas_.box_of(*canvas_.selected()).center().toPoint();
    canvas_.select(std::nullopt);
    QTest::mouseClick(canvas_.viewport(), Qt::LeftButton, {}, there);
    ASSERT_TRUE(canvas_.selected());
    EXPECT_EQ(canvas_.selected()->place.lane, lane);
    EXPECT_EQ(workspace_.selection().device(), DeviceId(150));
    EXPECT_TRUE(view_.status().text().contains("devices that do the same"));
    view_.grab();
    break;
  }
  ASSERT_TRUE(canvas_.selected());
}

// One who goes through what was found goes from time to time, not from device to device.
TEST_F(ManyDevicesTest, SearchGoesThroughWhatIsShown) {
  QTest::keyClicks(&view_.search_field(), "conv1 forward");
  QTest::keyClick(&view_.search_field(), Qt::Key_Return);
  ASSERT_TRUE(canvas_.selected());
  const double first = shown().at(canvas_.selected()->place).begin;
  QTest::keyClick(&view_.search_field(), Qt::Key_Return);
  EXPECT_GT(shown().at(canvas_.selected()->place).begin, first);
}

}  // namespace
}  // namespace strata::gui
