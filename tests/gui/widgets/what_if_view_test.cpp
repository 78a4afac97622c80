// Sliders: what a drag does to the document, to undo, and to the numbers.

#include "gui/widgets/what_if/what_if_view.h"

#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

#include <gmock/gmock.h>

#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {
namespace {

using ::testing::HasSubstr;
using testing::wait_until;

class WhatIfViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    view_.resize(1000, 700);
    view_.show();
    view_.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&view_));
    Document document;
    document.input.model = "lenet5";
    document.input.cluster = "p100-2x2";
    workspace_.open(document);
    settle();
  }
  void settle() {
    ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle() && workspace_.scene(); }));
  }
  KnobRow& row(const char* key) { return *view_.row(key); }
  Seconds step() const { return workspace_.scene()->prediction.step_seconds(); }

  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  WhatIfView view_{workspace_};
};

TEST_F(WhatIfViewTest, ADragIsOneStepOfUndo) {
  const Document before = workspace_.document();
  const Seconds step_before = step();
  QSlider& slider = row("link.inter.bandwidth").slider();
  slider.setSliderDown(true);
  for (int position = 230; position > 100; position -= 10) slider.setSliderPosition(position);
  slider.setSliderDown(false);
  settle();
  EXPECT_EQ(workspace_.undo_stack().count(), 1);
  EXPECT_THAT(workspace_.document().what_if("link.inter.bandwidth"), HasSubstr("x"));
  EXPECT_GT(step(), step_before);
  workspace_.undo_stack().undo();
  settle();
  EXPECT_EQ(workspace_.document(), before);
  EXPECT_EQ(step(), step_before);
  EXPECT_EQ(slider.value(), 240);
}

TEST_F(WhatIfViewTest, TwoKnobsAreTwoSteps) {
  QTest::keyClick(&row("link.inter.bandwidth").slider(), Qt::Key_Right);
  QTest::keyClick(&row("device.*.speed").slider(), Qt::Key_Right);
  QTest::keyClick(&row("device.*.speed").slider(), Qt::Key_Right);
  EXPECT_EQ(workspace_.undo_stack().count(), 2);
}

TEST_F(WhatIfViewTest, TheCurveOfTheSliderAtHandIsFilled) {
  KnobRow& inter = row("link.inter.bandwidth");
  EXPECT_FALSE(inter.curve().isVisible());
  QTest::keyClick(&inter.slider(), Qt::Key_Left);
  settle();
  EXPECT_TRUE(inter.curve().isVisible());
  EXPECT_EQ(inter.curve().points().size(), 33);
  QTest::keyClick(&row("batch").slider(), Qt::Key_Left);
  settle();
  EXPECT_FALSE(inter.curve().isVisible());
  EXPECT_GT(row("batch").curve().points().size(), 10);
}

TEST_F(WhatIfViewTest, TakesWhatIsTypedAndSaysWhatIsWrong) {
  QLineEdit& field = row("link.inter.bandwidth").field();
  field.selectAll();
  QTest::keyClicks(&field, "25 GB/s");
  QTest::keyClick(&field, Qt::Key_Return);
  settle();
  EXPECT_EQ(workspace_.document().what_if("link.inter.bandwidth"), "25 GB/s");
  EXPECT_THAT(view_.command().toStdString(), HasSubstr("--set 'link.inter.bandwidth=25 GB/s'"));
  field.selectAll();
  QTest::keyClicks(&field, "quick");
  QTest::keyClick(&field, Qt::Key_Return);
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("'quick' is not a bandwidth"));
}

// On one host nothing is between hosts: the rows go, but not under a hand that drags.
TEST_F(WhatIfViewTest, RowsFollowTheCluster) {
  QSlider& hosts = row("hosts").slider();
  hosts.setSliderDown(true);
  hosts.setSliderPosition(0);
  settle();
  EXPECT_EQ(workspace_.scene()->document.input.cluster, "p100-1x2");
  EXPECT_NE(view_.row("link.inter.bandwidth"), nullptr);
  hosts.setSliderDown(false);
  EXPECT_EQ(view_.row("link.inter.bandwidth"), nullptr);
  EXPECT_EQ(&view_.row("hosts")->slider(), &hosts);
}

TEST_F(WhatIfViewTest, TheLastPictureStaysWhereNothingIsPredicted) {
  workspace_.set_what_if("link.nowhere.bandwidth", "2x");
  settle();
  EXPECT_THAT(workspace_.error().toStdString(), HasSubstr("no link 'nowhere'"));
  EXPECT_NE(view_.csv(), "");
}

TEST_F(WhatIfViewTest, PinsABaselineAndResetsAll) {
  const Document opened = workspace_.document();
  QTest::keyClick(&row("batch").slider(), Qt::Key_End);
  QTest::keyClick(&row("device.*.speed").slider(), Qt::Key_Home);
  settle();
  view_.pin_baseline();
  EXPECT_EQ(workspace_.baseline(), workspace_.scene());
  view_.reset_all();
  settle();
  EXPECT_EQ(workspace_.document(), opened);
  EXPECT_NE(workspace_.baseline(), workspace_.scene());
}

// What no what-if changed is no business of theirs: a cluster that was typed is not, and one that
// could not be predicted goes, too.
TEST_F(WhatIfViewTest, AResetLeavesAllElseAlone) {
  Document other = workspace_.document();
  other.input.model = "alexnet";
  other.input.training.dtype = DType::bf16;
  other.input.training.sync.algorithm = SyncAlgorithm::tree;
  workspace_.edit("another network", other);
  settle();
  Document wrong = other.with_what_if("overlap", "off").with_what_if("link.nowhere.latency", "2x");
  wrong = wrong.with_batch(2 * wrong.input.training.batch_per_device).resized("p100-8x2");
  workspace_.edit("what-ifs", wrong);
  settle();
  view_.reset_all();
  EXPECT_EQ(workspace_.document(), other);
  const Document typed = other.with_cluster("p100-4x2");
  workspace_.edit("another cluster", typed);
  settle();
  QTest::keyClick(&row("hosts").slider(), Qt::Key_Home);
  settle();
  EXPECT_EQ(workspace_.document().input.cluster, "p100-1x2");
  view_.reset_all();
  EXPECT_EQ(workspace_.document(), typed);
}

TEST_F(WhatIfViewTest, KeysWorkOnTheViewAndNotInAField) {
  row("batch").slider().setFocus();
  QTest::keyClick(&row("batch").slider(), Qt::Key_O);
  EXPECT_EQ(workspace_.document().what_if("overlap"), "off");
  QLineEdit& field = row("batch").field();
  field.setFocus();
  QTest::keyClick(&field, Qt::Key_O);
  EXPECT_EQ(workspace_.document().what_if("overlap"), "off");
}

// As narrow as it is in a window of 1024 x 700: the list of sliders scrolls, and nothing else.
TEST_F(WhatIfViewTest, HasOneScrollBarWhereItIsNarrow) {
  view_.resize(320, 540);
  QCoreApplication::processEvents();
  int bars = 0;
  for (const QScrollBar* bar : view_.findChildren<QScrollBar*>()) bars += bar->isVisible() ? 1 : 0;
  EXPECT_EQ(bars, 1);
  EXPECT_GE(row("link.inter.bandwidth").slider().width(), 50) << "and can be turned";
}

// In a window on a screen of 1920 x 1200 at twice the scale.
TEST_F(WhatIfViewTest, HasOneScrollBarWhereItIsVeryNarrow) {
  view_.resize(290, 420);
  QCoreApplication::processEvents();
  int bars = 0;
  for (const QScrollBar* bar : view_.findChildren<QScrollBar*>()) {
    bars += bar->isVisible() ? 1 : 0;
    EXPECT_TRUE(bar->orientation() == Qt::Vertical || !bar->isVisible());
  }
  EXPECT_EQ(bars, 1);
}

TEST_F(WhatIfViewTest, ACurveThatOpensMovesNoField) {
  view_.resize(1000, 520);
  QCoreApplication::processEvents();
  const auto right = [&] {
    const QLineEdit& field = row("device.*.speed").field();
    return field.mapTo(&view_, QPoint(field.width(), 0)).x();
  };
  const int before = right();
  for (const int height : {1400, 420, 520}) {
    view_.resize(1000, height);
    QCoreApplication::processEvents();
    EXPECT_EQ(right(), before) << height;
  }
}

TEST_F(WhatIfViewTest, HasNoHeadingWithoutSliders) {
  const auto heading = [&] {
    for (const QLabel* label : view_.findChildren<QLabel*>()) {
      if (label->text() == "Network") return label->isVisible();
    }
    return false;
  };
  EXPECT_TRUE(heading());
  workspace_.edit("cluster", workspace_.document().with_cluster("p100-1x1"));
  settle();
  EXPECT_FALSE(heading());
}

// Without it a step is a sum, as Eq. 1 is.
TEST_F(WhatIfViewTest, OneClickShowsWhatOverlapSaves) {
  Document alexnet = workspace_.document();
  alexnet.input.model = "alexnet";
  workspace_.edit("network", alexnet);
  settle();
  auto* overlap = view_.findChild<QCheckBox*>("overlap");
  ASSERT_TRUE(overlap->isChecked());
  EXPECT_TRUE(overlap->toolTip().contains("Eq. 1"));
  const Seconds before = workspace_.scene()->prediction.step_seconds();
  overlap->click();
  settle();
  EXPECT_EQ(workspace_.document().what_if("overlap"), "off");
  EXPECT_GT(workspace_.scene()->prediction.step_seconds(), before);
  workspace_.undo_stack().undo();
  EXPECT_TRUE(overlap->isChecked());
}

// Wherever the slider and the baseline are, what is written stands beside the rest.
TEST(CurvePlot, WritesNothingOverOneAnother) {
  const Knob knob = layer_knob("*");
  CurvePlot plot;
  plot.resize(220, 90);
  for (const double value : {knob.least, 0.3, 1.0, 3.0, knob.most}) {
    for (const double baseline : {0.5, 5.0, 9.5, 10.0}) {
      plot.show_points(knob, {{knob.least, {10}}, {knob.most, {9}}});
      plot.mark(value, Seconds{9.6}, Seconds{baseline});
      const std::vector<CurveLabel> labels = plot.labels();
      ASSERT_FALSE(labels.empty());
      EXPECT_EQ(labels.front().text, "9.6 s");
      for (std::size_t i = 0; i < labels.size(); ++i) {
        EXPECT_TRUE(QRectF(plot.rect()).contains(labels[i].place));
        for (std::size_t j = 0; j < i; ++j) {
          EXPECT_FALSE(labels[i].place.intersects(labels[j].place)) << value << " " << baseline;
        }
      }
    }
  }
}

// The view goes while its curve is computed.
TEST(WhatIfView, CanBeClosedWhileItWorks) {
  testing::NoDevices runner;
  Workspace workspace(runner);
  auto* view = new WhatIfView(workspace);
  Document document;
  document.input.model = "lenet5";
  document.input.cluster = "p100-1x2";
  workspace.open(document);
  ASSERT_TRUE(wait_until([&] { return workspace.jobs().idle() && workspace.scene(); }));
  QTest::keyClick(&view->row("batch")->slider(), Qt::Key_Right);
  EXPECT_TRUE(workspace.jobs().busy("what_if_curve"));
  delete view;
  EXPECT_TRUE(wait_until([&] { return workspace.jobs().idle(); }));
}

}  // namespace
}  // namespace strata::gui
