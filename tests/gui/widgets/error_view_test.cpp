// Predicted and measured: run, stop, jump to the worst, filter; on fake cores.

#include "gui/widgets/measured/error_view.h"

#include <QTest>

#include <gmock/gmock.h>

#include "tests/gui/models/event_loop.h"
#include "tests/sim/study/measuring_runner.h"

namespace strata::gui {
namespace {

using ::testing::HasSubstr;
using testing::wait_until;

class ErrorViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    view_.resize(1200, 700);
    view_.show();
    view_.devices_field().setText("cpu:2");
    view_.rounds_field().setValue(1);
  }
  void open() {
    Document document;
    document.input.model = "lenet5";
    document.input.cluster = "p100-1x2";
    document.strategy.source = "model";
    workspace_.open(document);
    settle();
  }
  void settle() {
    ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  }
  void run() {
    QTest::mouseClick(&view_.run_button(), Qt::LeftButton);
    settle();
  }

  testing::MeasuringRunner runner_;
  Workspace workspace_{runner_};
  ErrorView view_{workspace_};
};

TEST_F(ErrorViewTest, WithoutANetworkThereIsNothingToRun) {
  EXPECT_FALSE(view_.run_button().isEnabled());
  view_.run_or_stop();
  view_.jump_to_worst();
  EXPECT_TRUE(workspace_.jobs().idle());
  EXPECT_TRUE(view_.csv().isEmpty());
}

TEST_F(ErrorViewTest, RunsAndShowsBothTimelinesAndTheirTable) {
  open();
  run();
  ASSERT_TRUE(workspace_.measured());
  ASSERT_TRUE(view_.canvas().recording(0) && view_.canvas().recording(1));
  EXPECT_EQ(view_.table().model()->rowCount(),
            static_cast<int>(workspace_.measured()->comparison.rows.size()));
  EXPECT_THAT(view_.summary().text().toStdString(), HasSubstr("lenet5, model on cpu:2: predicted"));
  EXPECT_FALSE(view_.csv().isEmpty());
  EXPECT_EQ(view_.run_button().text(), "Run");
}

TEST_F(ErrorViewTest, JumpsToTheWorstAndThenToTheNext) {
  open();
  run();
  QTest::keyClick(&view_, Qt::Key_N);
  ASSERT_TRUE(view_.canvas().selected());
  EXPECT_EQ(view_.table().currentIndex().row(), 0);
  const auto worst = view_.canvas().selected();
  QTest::keyClick(&view_, Qt::Key_N);
  EXPECT_EQ(view_.table().currentIndex().row(), 1);
  EXPECT_NE(view_.canvas().selected(), worst);
}

TEST_F(ErrorViewTest, ASliceThatIsPickedSelectsItsRow) {
  open();
  run();
  view_.canvas().select(SliceAddress{0, view_.canvas().recording(0)->place(3)});
  emit view_.canvas().picked();
  EXPECT_TRUE(view_.table().currentIndex().isValid());
  EXPECT_EQ(view_.canvas().selected()->side, 0);
}

TEST_F(ErrorViewTest, SaysInPlaceWhatCannotRun) {
  open();
  view_.devices_field().setText("gpu");
  run();
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("'gpu' names no devices"));
  EXPECT_FALSE(workspace_.measured());
  view_.devices_field().setText("cpu:2");
  run();
  EXPECT_TRUE(view_.notice().isEmpty());
}

TEST_F(ErrorViewTest, ARunCanBeStopped) {
  open();
  view_.run_or_stop();
  EXPECT_EQ(view_.run_button().text(), "Stop");
  view_.run_or_stop();
  settle();
  EXPECT_EQ(view_.run_button().text(), "Run");
  EXPECT_FALSE(workspace_.measured());
}

TEST_F(ErrorViewTest, ToleranceFadesWhatIsRightEnough) {
  open();
  run();
  const QImage before = view_.canvas().grab().toImage();
  view_.tolerance_field().setValue(100);
  EXPECT_NE(view_.canvas().grab().toImage(), before);
}

}  // namespace
}  // namespace strata::gui
