// Predicted and measured: run, stop, jump to the worst, filter; on fake cores.

#include "gui/widgets/measured/error_view.h"

#include <QTest>

#include <gmock/gmock.h>

#include "tests/gui/models/event_loop.h"
#include "tests/sim/measure/measuring_runner.h"

namespace strata::gui {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::wait_until;

class ErrorViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    view_.resize(1200, 700);
    view_.show();
    view_.run_bar().devices().setText("cpu:2");
    view_.run_bar().rounds().setValue(1);
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
    QTest::mouseClick(&view_.run_bar().button(), Qt::LeftButton);
    settle();
  }

  testing::MeasuringRunner runner_;
  Workspace workspace_{runner_};
  ErrorView view_{workspace_};
};

TEST_F(ErrorViewTest, WithoutANetworkThereIsNothingToRun) {
  EXPECT_FALSE(view_.run_bar().button().isEnabled());
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
  EXPECT_EQ(view_.run_bar().what().text(), "lenet5, model on cpu:2, batch 8");
  EXPECT_THAT(view_.heading().text().toStdString(),
              AllOf(HasSubstr("predicted "), HasSubstr(", measured "), HasSubstr(", error ")));
  EXPECT_THAT(view_.shown_step().text().toStdString(), HasSubstr(" of 3, the median: "));
  EXPECT_FALSE(view_.csv().isEmpty());
  EXPECT_EQ(view_.run_bar().button().text(), "Run");
}

// The fake cores say of every second sweep that it was disturbed.
TEST_F(ErrorViewTest, DoubtsWhatABusyMachineMeasured) {
  EXPECT_FALSE(view_.doubts().isVisible());
  open();
  run();
  EXPECT_TRUE(view_.doubts().isVisible());
  EXPECT_THAT(view_.doubts().text().toStdString(), HasSubstr("Something else ran"));
}

TEST_F(ErrorViewTest, AnotherNetworkTakesTheOutcomeAway) {
  open();
  run();
  Document other = workspace_.document();
  other.input.model = "alexnet";
  workspace_.open(other);
  settle();
  EXPECT_TRUE(view_.heading().text().isEmpty());
  EXPECT_TRUE(view_.csv().isEmpty());
  EXPECT_FALSE(view_.canvas().recording(0));
}

// What was run, whatever the fields and the document say meanwhile.
TEST_F(ErrorViewTest, TheCommandIsThatOfWhatIsShown) {
  open();
  run();
  const QString shown = view_.command();
  EXPECT_THAT(shown.toStdString(), HasSubstr("--devices cpu:2 --only --strategies model "));
  view_.run_bar().devices().setText("cpu:4");
  workspace_.set_strategy({"data"});
  settle();
  EXPECT_EQ(view_.command(), shown);
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
  view_.run_bar().devices().setText("gpu");
  run();
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("no devices 'gpu'"));
  EXPECT_FALSE(workspace_.measured());
  view_.run_bar().devices().setText("cpu:2");
  run();
  EXPECT_TRUE(view_.notice().isEmpty());
}

TEST_F(ErrorViewTest, ARunCanBeStopped) {
  open();
  view_.run_or_stop();
  EXPECT_EQ(view_.run_bar().button().text(), "Stop");
  EXPECT_TRUE(view_.run_bar().progress().isVisible());
  view_.run_or_stop();
  EXPECT_FALSE(view_.run_bar().button().isEnabled());
  settle();
  EXPECT_TRUE(view_.run_bar().button().isEnabled());
  EXPECT_EQ(view_.run_bar().button().text(), "Run");
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
