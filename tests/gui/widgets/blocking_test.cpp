// Nothing keeps the window from its events for long: whatever is opened, edited, dragged, searched,
// swept or exported, work that takes time is done in the background.

#include <QAction>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

#include <gmock/gmock.h>

#include "gui/widgets/network/network_view.h"
#include "gui/widgets/sweep/sweep_view.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/what_if/what_if_view.h"
#include "gui/widgets/window/main_window.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"
#include "tests/gui/widgets/watchdog.h"
#include "tests/sanitized.h"

namespace strata::gui {
namespace {

using testing::kSanitized;
using testing::wait_until;

constexpr double kLimit = 0.1;  // seconds

class BlockingTest : public ::testing::Test {
 protected:
  BlockingTest() {
    if (kSanitized) return;
    window_.show();
    settle();
    watch().longest();
  }
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer's time is not the program's";
  }

  static testing::WatchedApplication& watch() {
    return *static_cast<testing::WatchedApplication*>(qApp);
  }
  void settle() {
    ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
    QCoreApplication::processEvents();
  }
  // What was done since the last call, and what came of it.
  void never_away_for_long(const std::string& while_doing) {
    settle();
    const auto away = watch().longest();
    EXPECT_LE(away.seconds, kLimit) << while_doing << ": " << away.during;
    if (away.seconds > worst_.seconds) worst_ = {away.seconds, while_doing};
  }
  void open(const char* model, const char* cluster, const char* strategy) {
    Document document;
    document.input.model = model;
    document.input.cluster = cluster;
    document.strategy.source = strategy;
    // From the loop, as a click would.
    QMetaObject::invokeMethod(
        &window_, [this, document] { window_.open_document(document); }, Qt::QueuedConnection);
    QCoreApplication::processEvents();
    settle();
  }
  void later(const std::function<void()>& what) {
    QMetaObject::invokeMethod(&window_, what, Qt::QueuedConnection);
    QCoreApplication::processEvents();
  }

  void TearDown() override {
    if (kSanitized) return;
    fmt::print("longest away: {:.0f} ms, {}\n", worst_.seconds * 1e3, worst_.during);
  }

  testing::WatchedApplication::Absence worst_;
  QTemporaryDir folder_;
  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  MainWindow window_{workspace_, {{}, folder_.filePath(QStringLiteral("settings.ini"))}};
};

TEST_F(BlockingTest, WouldBeSeen) {
  later([] { QThread::msleep(120); });
  const auto away = watch().longest();
  EXPECT_GE(away.seconds, 0.12);
  EXPECT_THAT(away.during, ::testing::HasSubstr("MainWindow"));
  EXPECT_LT(watch().longest().seconds, 0.12) << "each is told once";
}

TEST_F(BlockingTest, WhileAMorningsWorkIsDone) {
  open("vgg16", "p100-4x4", "data");
  never_away_for_long("opening the paper's example");
  later([&] { workspace_.set_strategy({"optimal"}); });
  never_away_for_long("solving");
  for (View* view : window_.views()) {
    later([&] { window_.bring_to_front(view); });
    never_away_for_long("bringing to the front: " + view->id().toStdString());
  }
  later([&] { workspace_.selection().select_layers({LayerId(3)}); });
  never_away_for_long("selecting a layer");
  later([&] { workspace_.undo_stack().undo(); });
  never_away_for_long("undo");
  later([&] { window_.set_appearance(Appearance::dark); });
  never_away_for_long("other colours");
}

TEST_F(BlockingTest, WhileASliderIsDragged) {
  open("vgg16", "p100-4x4", "data");
  auto* what_if = dynamic_cast<WhatIfView*>(window_.view(QStringLiteral("what_if")));
  QSlider& slider = what_if->row("link.inter.bandwidth")->slider();
  never_away_for_long("opening");
  later([&] { slider.setSliderDown(true); });
  for (int i = 0; i < 20; ++i) {
    later([&] { slider.setSliderPosition(20 + 20 * i); });
  }
  later([&] { slider.setSliderDown(false); });
  never_away_for_long("dragging");
}

TEST_F(BlockingTest, WithALargeNetworkOnManyDevices) {
  open("resnet152", "p100-8x4", "data");
  never_away_for_long("opening");
  for (View* view : window_.views()) {
    later([&] { window_.bring_to_front(view); });
    never_away_for_long("bringing to the front: " + view->id().toStdString());
  }
  later([&] { workspace_.selection().select_layers({LayerId(100)}); });
  never_away_for_long("selecting a layer");
}

TEST_F(BlockingTest, WhileItSearchesAndExports) {
  open("vgg16", "p100-4x4", "data");
  auto* network = dynamic_cast<NetworkView*>(window_.view(QStringLiteral("network")));
  auto* timeline = dynamic_cast<TimelineView*>(window_.view(QStringLiteral("timeline")));
  later([&] { window_.bring_to_front(timeline); });
  never_away_for_long("opening");
  later([&] { network->search(QStringLiteral("conv")); });
  later([&] { timeline->search_field().setText(QStringLiteral("update")); });
  never_away_for_long("searching");
  for (View* view : window_.views()) {
    later([&] { window_.bring_to_front(view); });
    settle();
    for (const QString& format : view->formats()) {
      const QString file = folder_.filePath(view->id() + '.' + format);
      watch().longest();
      later([&] { window_.export_view(view, file); });
      never_away_for_long("exporting " + view->id().toStdString() + "." + format.toStdString());
      EXPECT_TRUE(QFile::exists(file)) << file.toStdString();
    }
  }
}

TEST_F(BlockingTest, WhileItSweeps) {
  const QString file = folder_.filePath(QStringLiteral("s.toml"));
  QFile out(file);
  ASSERT_TRUE(out.open(QIODevice::WriteOnly));
  out.write(
      "[[sweep]]\nmodel = [\"lenet5\", \"alexnet\"]\ncluster = [\"p100-1x2\", \"p100-1x4\"]\n"
      "strategy = [\"data\", \"owt\", \"model\"]\n");
  out.close();
  open("lenet5", "p100-1x2", "data");
  later([&] { window_.open_file(file); });
  auto& sweep = *dynamic_cast<SweepView*>(window_.view(QStringLiteral("sweep")));
  ASSERT_TRUE(wait_until([&] { return sweep.sweep().state() == SweepRun::State::ready; }));
  never_away_for_long("opening a scenario");
  later([&] { sweep.findChild<SweepBar*>()->button().click(); });
  ASSERT_TRUE(wait_until([&] { return sweep.results().all()->rows() == 12; }));
  never_away_for_long("sweeping");
  later([&] { sweep.results().set_text("owt"); });
  never_away_for_long("filtering");
}

TEST_F(BlockingTest, WithALongTrace) {
  const QString file = folder_.filePath(QStringLiteral("trace.json"));
  QFile out(file);
  ASSERT_TRUE(out.open(QIODevice::WriteOnly));
  out.write("{\"traceEvents\": [\n");
  for (int i = 0; i < 100'000; ++i) {
    out.write(QStringLiteral("%1{\"ph\": \"X\", \"name\": \"task %2\", \"pid\": %3, \"tid\": 1, "
                             "\"ts\": %4, \"dur\": 8}\n")
                  .arg(i == 0 ? "" : ",")
                  .arg(i % 50)
                  .arg(i % 16)
                  .arg(i * 10)
                  .toUtf8());
  }
  out.write("]}\n");
  out.close();
  later([&] { window_.open_file(file); });
  never_away_for_long("opening a trace");
  TimelineView& timeline = *dynamic_cast<TimelineView*>(window_.view(QStringLiteral("timeline")));
  ASSERT_TRUE(timeline.shows_trace());
  const double all = timeline.canvas().window().length();
  for (const Qt::Key key : {Qt::Key_W, Qt::Key_D, Qt::Key_Period}) {
    later([&] { QTest::keyClick(&timeline.canvas(), key); });
  }
  EXPECT_LT(timeline.canvas().window().length(), all);
  EXPECT_TRUE(timeline.canvas().selected());
  never_away_for_long("walking through it");
  later([&] { timeline.search_field().setText(QStringLiteral("task 7")); });
  later([&] { QTest::keyClick(&timeline.search_field(), Qt::Key_Return); });
  never_away_for_long("searching it");
}

}  // namespace
}  // namespace strata::gui
