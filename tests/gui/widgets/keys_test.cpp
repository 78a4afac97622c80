// Keys in the real window, where its menus' shortcuts are asked first: what a view's list of keys
// promises happens.

#include <QApplication>
#include <QDockWidget>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <gmock/gmock.h>

#include "gui/widgets/cluster/cluster_view.h"
#include "gui/widgets/measured/error_view.h"
#include "gui/widgets/memory/memory_view.h"
#include "gui/widgets/network/network_view.h"
#include "gui/widgets/sweep/sweep_view.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/window/main_window.h"
#include "tests/gui/models/event_loop.h"
#include "tests/sim/measure/measuring_runner.h"

namespace strata::gui {
namespace {

using testing::wait_until;

class KeysTest : public ::testing::Test {
 protected:
  void SetUp() override {
    window_.show();
    window_.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
    Document document;
    document.input.model = "lenet5";
    document.input.cluster = "p100-1x2";
    window_.open_document(document);
    settle();
    selection_.select_layers({LayerId(1)});
    selection_.select_device(DeviceId(1));
    selection_.select_range(TimeRange{{0}, {1e-4}});
  }
  void settle() {
    ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  }
  /// The view, seen, with the focus.
  template <class Shown = View>
  Shown& front(const char* id) {
    View* view = window_.view(QLatin1String(id));
    window_.bring_to_front(view);
    settle();
    return *dynamic_cast<Shown*>(view);
  }
  /// Goes to what has the focus.
  static void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
    ASSERT_NE(QApplication::focusWidget(), nullptr);
    QTest::keyClick(QApplication::focusWidget(), key, modifiers);
  }
  bool nothing_selected() const {
    return selection_.layers().empty() && !selection_.device() && !selection_.range();
  }

  const QTemporaryDir folder_;
  testing::MeasuringRunner runner_;
  Workspace workspace_{runner_};
  Selection& selection_ = workspace_.selection();
  MainWindow window_{workspace_, {{}, folder_.filePath(QStringLiteral("settings.ini"))}};
};

TEST_F(KeysTest, EscSelectsNothingWhereAViewHasNoUseForIt) {
  for (const char* id : {"what_if", "why"}) {
    front(id);
    selection_.select_device(DeviceId(1));
    press(Qt::Key_Escape);
    EXPECT_TRUE(nothing_selected()) << id;
  }
  selection_.select_device(DeviceId(1));
  press(Qt::Key_L, Qt::ControlModifier);
  press(Qt::Key_Escape);
  EXPECT_TRUE(nothing_selected()) << "in the network's field";
}

TEST_F(KeysTest, EscSelectsNothingInAViewThatFloats) {
  View& why = front("why");
  auto* dock = dynamic_cast<QDockWidget*>(why.parentWidget());
  ASSERT_NE(dock, nullptr);
  dock->setFloating(true);
  QTest::keyClick(&why, Qt::Key_Escape);
  EXPECT_TRUE(nothing_selected());
}

TEST_F(KeysTest, EscPutsTheBrushDownThenLetsTheLayersGo) {
  auto& network = front<NetworkView>("network");
  press(Qt::Key_P);
  ASSERT_TRUE(network.canvas().painting());
  press(Qt::Key_Escape);
  EXPECT_FALSE(network.canvas().painting());
  EXPECT_FALSE(selection_.layers().empty());
  press(Qt::Key_Escape);
  EXPECT_TRUE(selection_.layers().empty());
  EXPECT_TRUE(selection_.device());
}

TEST_F(KeysTest, EscEndsASearchInTheNetwork) {
  auto& network = front<NetworkView>("network");
  press(Qt::Key_Slash);
  auto* field = dynamic_cast<QLineEdit*>(QApplication::focusWidget());
  ASSERT_NE(field, nullptr);
  QTest::keyClicks(field, "fc");
  press(Qt::Key_Escape);
  EXPECT_TRUE(field->text().isEmpty());
  EXPECT_TRUE(network.canvas().hasFocus());
  EXPECT_FALSE(selection_.layers().empty());
}

TEST_F(KeysTest, EscIsAllOfTheTimeInTheCluster) {
  auto& cluster = front<ClusterView>("cluster");
  press(Qt::Key_Escape);
  EXPECT_FALSE(selection_.range());
  selection_.select_range(TimeRange{{0}, {1e-4}});
  cluster.range_bar().setFocus();
  press(Qt::Key_Escape);
  EXPECT_FALSE(selection_.range());
  EXPECT_FALSE(selection_.layers().empty());
}

TEST_F(KeysTest, EscLeavesABandwidthAsItWas) {
  auto& cluster = front<ClusterView>("cluster");
  const Document before = workspace_.document();
  press(Qt::Key_Down);
  press(Qt::Key_Return);
  QLineEdit& field = cluster.bandwidth_field();
  ASSERT_TRUE(field.hasFocus());
  field.setText(QStringLiteral("2x"));
  press(Qt::Key_Escape);
  EXPECT_FALSE(field.isVisible());
  EXPECT_TRUE(cluster.canvas().hasFocus());
  EXPECT_EQ(workspace_.document(), before);
  EXPECT_TRUE(selection_.range());
}

TEST_F(KeysTest, EscMeasuresNothingInTheMemory) {
  front<MemoryView>("memory");
  press(Qt::Key_Escape);
  EXPECT_FALSE(selection_.range());
  EXPECT_FALSE(selection_.layers().empty());
}

TEST_F(KeysTest, EscSelectsNoTaskInTheTimeline) {
  auto& timeline = front<TimelineView>("timeline");
  press(Qt::Key_Down);
  ASSERT_TRUE(selection_.task());
  press(Qt::Key_Escape);
  EXPECT_FALSE(selection_.task());
  EXPECT_FALSE(selection_.range());
  EXPECT_FALSE(timeline.canvas().selected());
}

TEST_F(KeysTest, EscEndsASearchInTheTimeline) {
  auto& timeline = front<TimelineView>("timeline");
  press(Qt::Key_F, Qt::ControlModifier);
  ASSERT_TRUE(timeline.search_field().hasFocus());
  QTest::keyClicks(&timeline.search_field(), "conv1");
  press(Qt::Key_Escape);
  EXPECT_TRUE(timeline.search_field().text().isEmpty());
  EXPECT_TRUE(timeline.canvas().hasFocus());
  EXPECT_TRUE(selection_.range());
}

// From the table, from a chart and from the filter's field.
TEST_F(KeysTest, EscLetsAllRowsOfASweepPass) {
  QFile file(folder_.filePath(QStringLiteral("s.toml")));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(
      "[[sweep]]\nmodel = \"lenet5\"\ncluster = \"p100-1x2\"\n"
      "strategy = [\"data\", \"owt\"]\n");
  file.close();
  window_.open_file(file.fileName());
  settle();
  auto& sweep = front<SweepView>("sweep");
  ASSERT_TRUE(wait_until([&] { return sweep.sweep().state() == SweepRun::State::ready; }));
  sweep.findChild<SweepBar*>()->button().click();
  ASSERT_TRUE(wait_until([&] { return sweep.results().all()->rows() == 2; }));
  settle();
  sweep.table().setFocus();
  press(Qt::Key_Slash);
  QWidget* const filter = QApplication::focusWidget();
  ASSERT_NE(dynamic_cast<QLineEdit*>(filter), nullptr);
  for (QWidget* from : {filter, static_cast<QWidget*>(&sweep.table()),
                        static_cast<QWidget*>(&sweep.charts().canvas(ResultCharts::lines))}) {
    sweep.results().set_text("owt");
    ASSERT_EQ(sweep.results().rows().size(), 1);
    from->setFocus();
    press(Qt::Key_Escape);
    EXPECT_EQ(sweep.results().rows().size(), 2) << from->metaObject()->className();
  }
  EXPECT_FALSE(selection_.layers().empty());
}

// Ctrl+Return solves, wherever the focus is; Ctrl+R runs.
TEST_F(KeysTest, CtrlRRunsAndEscSelectsNothingOfIt) {
  auto& measured = front<ErrorView>("measured");
  measured.devices_field().setText(QStringLiteral("cpu:2"));
  measured.run_bar().rounds().setValue(1);
  press(Qt::Key_R, Qt::ControlModifier);
  EXPECT_TRUE(workspace_.jobs().busy(QStringLiteral("runner")));
  settle();
  ASSERT_TRUE(workspace_.measured());
  press(Qt::Key_N);
  ASSERT_TRUE(measured.canvas().selected());
  measured.canvas().setFocus();
  press(Qt::Key_Escape);
  EXPECT_FALSE(measured.canvas().selected());
  EXPECT_TRUE(selection_.device()) << "of the prediction";
  press(Qt::Key_Return, Qt::ControlModifier);
  settle();
  EXPECT_EQ(workspace_.document().strategy.source, "optimal");
}

}  // namespace
}  // namespace strata::gui
