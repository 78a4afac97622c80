// Memory: the peak and its tensors, other moments, other devices.

#include "gui/widgets/memory/memory_view.h"

#include <QTest>

#include <gmock/gmock.h>

#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {
namespace {

using ::testing::HasSubstr;
using testing::wait_until;

class MemoryViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    view_.resize(1200, 700);
    view_.show();
  }
  void open() {
    Document document;
    document.input.model = "alexnet";
    document.input.cluster = "p100-1x2";
    document.strategy.source = "owt";
    workspace_.open(document);
    ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  }
  MemoryCanvas::Moment now() { return *view_.canvas().selected(); }

  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  MemoryView view_{workspace_};
};

TEST_F(MemoryViewTest, BeginsAtTheHighestPeakWithItsTensors) {
  EXPECT_TRUE(view_.csv().isEmpty());
  open();
  EXPECT_EQ(now(), view_.canvas().peak_of(view_.canvas().fullest()));
  EXPECT_GT(view_.table().model()->rowCount(), 0);
  EXPECT_THAT(view_.heading().text().toStdString(), HasSubstr("at its peak"));
  EXPECT_THAT(view_.csv().toStdString(), HasSubstr("parameters"));
}

TEST_F(MemoryViewTest, AClickAsksForAMomentAndItsDevice) {
  open();
  const TimeWindow& window = view_.canvas().window();
  const MemoryCanvas::Moment early{DeviceId(1), window.begin() + window.length() * 0.01};
  QTest::mouseClick(view_.canvas().viewport(), Qt::LeftButton, {}, view_.canvas().point_of(early));
  EXPECT_EQ(now().device, DeviceId(1));
  EXPECT_EQ(workspace_.selection().device(), DeviceId(1));
  EXPECT_NEAR(now().at, early.at, view_.canvas().window().length() / 500);
  const MemoryCanvas::Moment peak = view_.canvas().peak_of(DeviceId(0));
  QTest::mouseClick(view_.canvas().viewport(), Qt::LeftButton, {},
                    view_.canvas().point_of(peak) + QPoint(3, 0));
  EXPECT_EQ(now(), peak);
}

TEST_F(MemoryViewTest, KeysGoToOtherDevicesMomentsAndBack) {
  open();
  view_.canvas().select(view_.canvas().peak_of(DeviceId(0)));
  QTest::keyClick(&view_.canvas(), Qt::Key_Down);
  EXPECT_EQ(now().device, DeviceId(1));
  QTest::keyClick(&view_.canvas(), Qt::Key_P);
  EXPECT_EQ(now(), view_.canvas().peak_of(DeviceId(1)));
  QTest::keyClick(&view_.canvas(), Qt::Key_Period);
  EXPECT_GT(now().at, view_.canvas().peak_of(DeviceId(1)).at);
  QTest::keyClick(&view_.canvas(), Qt::Key_Comma);
  EXPECT_EQ(now(), view_.canvas().peak_of(DeviceId(1)));
}

TEST_F(MemoryViewTest, ShowsAStepFirstAndThenAll) {
  open();
  const Timeline& timeline = workspace_.scene()->prediction.timeline;
  const std::size_t last = timeline.steady_window().last;
  const Seconds begin = timeline.step_end(last - 1), end = timeline.step_end(last);
  const TimeWindow step = view_.canvas().window();
  EXPECT_LT(step.begin(), begin.value);
  EXPECT_GT(step.end(), end.value);
  EXPECT_LT(step.length(), 1.1 * (end - begin).value);
  QTest::keyClick(&view_.canvas(), Qt::Key_F);
  EXPECT_TRUE(view_.canvas().window().shows_all());
  QTest::keyClick(&view_.canvas(), Qt::Key_F);
  EXPECT_EQ(view_.canvas().window(), step);
}

// AlexNet fills a small part of a P100.
TEST_F(MemoryViewTest, TheCapacityIsInThePictureWhenAskedFor) {
  open();
  EXPECT_EQ(view_.canvas().scale(), MemoryScale::peak);
  const QImage before = view_.canvas().grab().toImage();
  QTest::keyClick(&view_.canvas(), Qt::Key_C);
  EXPECT_TRUE(view_.scale_button().isChecked());
  EXPECT_NE(view_.canvas().grab().toImage(), before);
  view_.scale_button().click();
  EXPECT_EQ(view_.canvas().scale(), MemoryScale::peak);
}

TEST_F(MemoryViewTest, ATensorSelectsItsLayer) {
  open();
  view_.table().selectRow(0);
  ASSERT_EQ(workspace_.selection().layers().size(), 1);
  EXPECT_EQ(view_.table().model()->index(0, TensorTable::kLayer).data().toString().toStdString(),
            workspace_.scene()->input.graph[workspace_.selection().layers()[0]].name);
}

TEST_F(MemoryViewTest, FollowsTheDeviceAndTheRangeOfOthers) {
  open();
  workspace_.selection().select_device(DeviceId(1));
  EXPECT_EQ(now().device, DeviceId(1));
  workspace_.selection().select_range(TimeRange{{0}, {0.001}});
  EXPECT_EQ(view_.canvas().range(), workspace_.selection().range());
}

TEST_F(MemoryViewTest, DraggingMeasuresForAllViews) {
  open();
  QWidget* area = view_.canvas().viewport();
  QTest::mousePress(area, Qt::LeftButton, {}, {300, 200});
  QTest::mouseMove(area, {350, 200});
  QTest::mouseMove(area, {400, 200});
  QTest::mouseRelease(area, Qt::LeftButton, {}, {400, 200});
  ASSERT_TRUE(workspace_.selection().range());
  EXPECT_GT(workspace_.selection().range()->length(), Seconds{0});
}

}  // namespace
}  // namespace strata::gui
