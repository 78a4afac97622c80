// The sweep view as a user has it: a scenario is opened and swept, rows are brushed and opened, and
// what is wrong stands above the view.

#include "gui/widgets/sweep/sweep_view.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "gui/models/sweep/result_chart.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {
namespace {

using ::testing::HasSubstr;
using testing::wait_until;
namespace fs = std::filesystem;

class SweepViewTest : public ::testing::Test {
 protected:
  SweepViewTest() {
    std::ofstream(folder_ / "s.toml") << R"(
[[sweep]]
model = "lenet5"
cluster = ["p100-1x2", "p100-1x4"]
strategy = ["data", "owt", "model"]
)";
    view_.resize(1000, 700);
    view_.show();
  }

  QString file(const char* name) const { return QString::fromStdString(folder_ / name); }
  void sweep_all() {
    ASSERT_TRUE(view_.open(file("s.toml")));
    ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
    ASSERT_TRUE(wait_until([&] { return view_.sweep().state() == SweepRun::State::ready; }));
    QTest::keyClick(&view_, Qt::Key_S);
    ASSERT_TRUE(wait_until([&] { return view_.results().all()->rows() == 6; }));
    ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  }
  /// Paints, so that points have places.
  ResultCanvas& painted(ResultCharts::Kind kind) {
    view_.charts().show_kind(kind);
    QCoreApplication::processEvents();
    view_.grab();
    return view_.charts().canvas(kind);
  }

  const QTemporaryDir temporary_;  // cases run side by side
  const fs::path folder_ = temporary_.path().toStdString();
  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  SweepView view_{workspace_};
};

TEST_F(SweepViewTest, SweepsAScenario) {
  EXPECT_EQ(view_.command(), "");
  EXPECT_FALSE(view_.formats().contains("csv"));
  sweep_all();
  EXPECT_TRUE(view_.formats().contains("csv"));
  EXPECT_EQ(view_.notice(), "");
  EXPECT_EQ(view_.table().model()->rowCount(), 6);
  EXPECT_EQ(view_.command(), "strata query " + file("s.db"));
  EXPECT_THAT(view_.csv().toStdString(), HasSubstr("p100-1x4,owt"));
}

TEST_F(SweepViewTest, ABrushInAChartFiltersAll) {
  sweep_all();
  ResultCanvas& pareto = painted(ResultCharts::pareto);
  const auto at = pareto.picture()->spot_of(2);
  ASSERT_TRUE(at);
  const QPoint middle = at->toPoint();
  QTest::mousePress(&pareto, Qt::LeftButton, {}, middle - QPoint(6, 6));
  QTest::mouseMove(&pareto, middle);
  QTest::mouseRelease(&pareto, Qt::LeftButton, {}, middle + QPoint(6, 6));
  EXPECT_TRUE(view_.results().shows(2));
  EXPECT_LT(view_.results().rows().size(), 6);
  EXPECT_EQ(view_.table().model()->rowCount(), static_cast<int>(view_.results().rows().size()));
  EXPECT_THAT(view_.command().toStdString(), HasSubstr("WHERE"));
  view_.results().set_text("owt");
  QTest::keyClick(&pareto, Qt::Key_Escape);
  EXPECT_EQ(view_.results().rows().size(), 6);
}

// A click selects; the second one opens, in one step of undo.
TEST_F(SweepViewTest, ADoubleClickOpensTheCase) {
  sweep_all();
  ResultCanvas& pareto = painted(ResultCharts::pareto);
  const QPoint at = pareto.picture()->spot_of(4)->toPoint();
  QTest::mouseClick(&pareto, Qt::LeftButton, {}, at);
  ASSERT_TRUE(view_.results().current());
  const std::uint32_t row = *view_.results().current();
  EXPECT_TRUE(workspace_.jobs().idle());
  QTest::mouseDClick(&pareto, Qt::LeftButton, {}, at);
  ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  ASSERT_NE(workspace_.scene(), nullptr);
  const ResultSet& all = *view_.results().all();
  EXPECT_EQ(workspace_.document().input.cluster, all[*all.find("cluster")].text(row));
  EXPECT_EQ(workspace_.document().strategy.source, all[*all.find("strategy")].text(row));
  // The next one is an edit, which can be undone.
  const Document first = workspace_.document();
  QTableView& table = view_.table();
  const int other = table.currentIndex().row() == 0 ? 1 : 0;
  const QPoint cell = table.visualRect(table.model()->index(other, 1)).center();
  QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, cell);
  ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  EXPECT_EQ(workspace_.document(), first);
  QTest::mouseDClick(table.viewport(), Qt::LeftButton, {}, cell);
  ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  EXPECT_NE(workspace_.document(), first);
  EXPECT_EQ(workspace_.undo_stack().count(), 1);
  workspace_.undo_stack().undo();
  EXPECT_EQ(workspace_.document(), first);
  QTest::keyClick(&table, Qt::Key_Return);
  ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  EXPECT_NE(workspace_.document(), first);
}

// Data parallelism on the row's case, as long as nobody pins another.
TEST_F(SweepViewTest, TheBaselineFollowsToARow) {
  Document desk;
  desk.input.model = "alexnet";
  desk.input.cluster = "p100-1x2";
  workspace_.open(desk);
  sweep_all();
  view_.results().open(0);
  ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  const Document row = workspace_.document();
  EXPECT_EQ(workspace_.baseline()->document.input, row.input);
  Document next = row;
  next.input.training.batch_per_device *= 2;
  workspace_.edit("batch", next);
  ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  EXPECT_EQ(workspace_.baseline()->document.input, next.input);
}

// Of an image that was drawn small and blown up, both pixels of a pair are the same.
TEST_F(SweepViewTest, APictureAtTwiceTheSizeIsDrawnAtThatSize) {
  sweep_all();
  ResultCanvas& lines = painted(ResultCharts::lines);
  QImage image(lines.size() * 2, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(2);
  lines.render(&image);
  int fine = 0;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x + 1 < image.width(); x += 2)
      fine += image.pixel(x, y) != image.pixel(x + 1, y);
  }
  EXPECT_GT(fine, 0);
}

TEST_F(SweepViewTest, EveryChartIsPainted) {
  sweep_all();
  for (const auto kind :
       {ResultCharts::lines, ResultCharts::heat, ResultCharts::pareto, ResultCharts::parallel}) {
    const ResultCanvas& canvas = painted(kind);
    EXPECT_FALSE(canvas.picture()->area().isEmpty()) << kind;
    for (std::uint32_t row = 0; row < 6; ++row) EXPECT_TRUE(canvas.picture()->spot_of(row)) << kind;
    for (const char* const end : {"png", "svg"}) {
      const QString to = file(end) + "." + end;
      view_.export_to(to);
      EXPECT_GT(QFileInfo(to).size(), 1000);
    }
  }
}

ResultColumn counted(const std::string& name, bool setting, std::size_t rows) {
  ResultColumn column;
  column.name = name;
  column.numeric = true;
  column.setting = setting;
  for (std::size_t i = 0; i < rows; ++i) column.values.push_back(static_cast<double>(i % 997));
  return column;
}

// 10^5 rows: the window goes on while a job paints them.
TEST_F(SweepViewTest, ManyRowsArePaintedInAJob) {
  constexpr std::size_t kRows = 100'000;
  sweep_all();
  view_.results().set_all(std::make_shared<const ResultSet>(
      std::vector{counted("jitter", true, kRows), counted("step_seconds", false, kRows)},
      std::vector<std::int64_t>(kRows)));
  const ResultCanvas& lines = painted(ResultCharts::lines);
  EXPECT_FALSE(workspace_.jobs().idle());
  ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  EXPECT_TRUE(lines.picture()->spot_of(0));
  EXPECT_LE(lines.picture()->rows_in_order().size(), kMostPoints);
  EXPECT_EQ(view_.table().model()->rowCount(), static_cast<int>(kRows));
}

// Other rows, not painted yet: in the picture of those before, their numbers are other rows'.
TEST_F(SweepViewTest, NoRowIsHitInAPictureOfOthers) {
  const auto set = [&](std::vector<std::int64_t> ids) {
    view_.results().set_all(std::make_shared<const ResultSet>(
        std::vector{counted("batch", true, 4), counted("step_seconds", false, 4)}, std::move(ids)));
  };
  sweep_all();
  set({1, 2, 3, 4});
  ResultCanvas& lines = painted(ResultCharts::lines);
  ASSERT_TRUE(lines.picture()->spot_of(2));
  const QPoint at = lines.picture()->spot_of(2)->toPoint();
  set({5, 6, 7, 8});
  QTest::mouseClick(&lines, Qt::LeftButton, {}, at);
  EXPECT_FALSE(view_.results().current());
  QTest::keyClick(&lines, Qt::Key_Right);
  EXPECT_FALSE(view_.results().current());
  painted(ResultCharts::lines);
  QTest::keyClick(&lines, Qt::Key_Right);
  EXPECT_TRUE(view_.results().current());
}

// The first rows of a sweep have one strategy and one number of devices; those that come later tell
// what it is about. What somebody chose by hand stays.
TEST_F(SweepViewTest, ChartsFollowTheRowsUntilSomebodyChooses) {
  auto one = counted("devices", true, 4), four = one;
  one.values.assign(4, 1);
  const auto set = [&](const ResultColumn& devices) {
    view_.results().set_all(std::make_shared<const ResultSet>(
        std::vector{devices, counted("batch", true, 4), counted("step_seconds", false, 4)},
        std::vector<std::int64_t>{1, 2, 3, 4}));
  };
  const ResultCanvas& lines = view_.charts().canvas(ResultCharts::lines);
  set(one);
  EXPECT_EQ(lines.choice().x, "batch");
  set(four);
  EXPECT_EQ(lines.choice().x, "devices");
  view_.charts().choose(ResultCharts::lines, {"batch", "step_seconds", ""});
  set(one);
  EXPECT_EQ(lines.choice().x, "batch");
  set(four);
  EXPECT_EQ(lines.choice().x, "batch");
}

// An export may come before the next event: no chooser lies over another.
TEST_F(SweepViewTest, IsLaidOutAtOnce) {
  sweep_all();
  view_.results().set_all(std::make_shared<const ResultSet>(
      std::vector{counted("link.inter.bandwidth", true, 4), counted("step_seconds", false, 4)},
      std::vector<std::int64_t>{1, 2, 3, 4}));
  const auto choosers = view_.charts().findChildren<QComboBox*>();
  ASSERT_EQ(choosers.size(), 3);
  for (int i = 1; i < choosers.size(); ++i) {
    EXPECT_LT(choosers[i - 1]->geometry().right(), choosers[i]->geometry().left());
  }
}

TEST_F(SweepViewTest, WhatIsWrongStandsAboveIt) {
  std::ofstream(folder_ / "text.db") << "no database";
  EXPECT_TRUE(view_.open(file("text.db")));
  ASSERT_TRUE(wait_until([&] { return !view_.notice().isEmpty(); }));
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("text.db"));
  EXPECT_TRUE(view_.open(file("none.toml")));
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("cannot be read"));
  std::ofstream(folder_ / "net.toml") << "name = \"a\"\n[[layer]]\n";
  EXPECT_FALSE(view_.open(file("net.toml")));
}

TEST_F(SweepViewTest, ABrokenDatabaseLeavesWhatIsOpen) {
  sweep_all();
  std::ofstream(folder_ / "cut-off.db") << "SQLite format 3" << '\0';
  EXPECT_TRUE(view_.open(file("cut-off.db")));
  ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("cut-off.db"));
  EXPECT_EQ(view_.results().all()->rows(), 6);
  EXPECT_EQ(view_.command(), "strata query " + file("s.db"));
}

TEST_F(SweepViewTest, ABrokenScenarioLeavesWhatIsOpen) {
  sweep_all();
  std::ofstream(folder_ / "bad.toml") << "[[sweep]]\nmodel = \"lenet5\"\ncluster = \"p100-1x2\"\n"
                                      << "strategy = [\"zzz\"]\n";
  EXPECT_TRUE(view_.open(file("bad.toml")));
  ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("unknown strategy"));
  EXPECT_EQ(view_.results().all()->rows(), 6);
  EXPECT_EQ(view_.command(), "strata query " + file("s.db"));
}

TEST_F(SweepViewTest, AScenarioIsReadThoughItsDatabaseIsBroken) {
  std::ofstream(folder_ / "s.db") << "no database";
  const QSignalSpy opened(&view_, &View::opened);
  EXPECT_TRUE(view_.open(file("s.toml")));
  ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("s.db"));
  ASSERT_EQ(opened.count(), 1);
  EXPECT_EQ(opened[0][0].toString(), file("s.toml"));
  std::ofstream(folder_ / "bad.toml") << "[[sweep]]\nmodel = \"nothing\"\n";
  EXPECT_TRUE(view_.open(file("bad.toml")));
  ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  EXPECT_EQ(opened.count(), 1);
}

TEST_F(SweepViewTest, ClosedWhileItWorks) {
  auto* view = new SweepView(workspace_);
  ASSERT_TRUE(view->open(file("s.toml")));
  ASSERT_TRUE(wait_until([&] { return view->sweep().state() == SweepRun::State::ready; }));
  view->sweep().start();
  delete view;
  EXPECT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
}

// A line for each of two strategies, drawn over two clusters.
constexpr const char* kWithReport = R"(
name = "reported"
[[sweep]]
model = "lenet5"
cluster = ["p100-1x2", "p100-1x4"]
strategy = ["data", "owt", "model"]
[[report]]
title = "Steps by devices"
kind = "lines"
x = "devices"
y = "step_seconds"
series = "strategy"
sql = "SELECT devices, step_seconds, strategy FROM cases"
[[report]]
title = "What is said"
[[report.claim]]
text = "Two devices are enough."
said = 2
sql = "SELECT min(devices) FROM cases"
)";

TEST_F(SweepViewTest, AScenarioWithAReportHasItDrawn) {
  std::ofstream(folder_ / "s.toml") << kWithReport;
  ASSERT_TRUE(view_.open(file("s.toml")));
  ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  ReportPage& page = view_.report();
  EXPECT_TRUE(page.isVisible()) << "it is the first that is shown of such a scenario";
  EXPECT_THAT(page.toPlainText().toStdString(), HasSubstr("Press S to start"));
  sweep_all();
  ASSERT_NE(page.report(), nullptr) << "drawn anew once rows have come";
  EXPECT_EQ(page.report()->title, "reported");
  const std::string text = page.toPlainText().toStdString();
  EXPECT_THAT(text, HasSubstr("Steps by devices"));
  EXPECT_THAT(text, HasSubstr("Two devices are enough."));
  EXPECT_THAT(text, HasSubstr("reproduced"));
  EXPECT_EQ(view_.command(), "strata report " + file("s.db"));
  QTest::keyClick(&page, Qt::Key_R);
  EXPECT_FALSE(page.isVisible());
  EXPECT_TRUE(view_.table().isVisible());
  EXPECT_EQ(view_.command(), "strata query " + file("s.db"));
}

// In the colours of the report's page: data is its first series.
TEST_F(SweepViewTest, AReportsChartHasTheColoursOfItsSeries) {
  std::ofstream(folder_ / "s.toml") << kWithReport;
  sweep_all();
  ASSERT_EQ(view_.report().chart_count(), 1U);
  const QImage chart = view_.report().chart(0);
  int first = 0, second = 0;
  for (int y = 0; y < chart.height(); ++y) {
    for (int x = 0; x < chart.width(); ++x) {
      first += chart.pixel(x, y) == QColor("#0072b2").rgba();
      second += chart.pixel(x, y) == QColor("#d55e00").rgba();
    }
  }
  EXPECT_GT(first, 50);
  EXPECT_GT(second, 50);
}

// A query that never ends is stopped with the other jobs, and by whoever closes the window.
TEST_F(SweepViewTest, AReportThatIsBeingDrawnCanBeStopped) {
  std::ofstream(folder_ / "s.toml") << kWithReport;
  sweep_all();
  std::ofstream(folder_ / "s.toml", std::ios::app)
      << "[[report]]\ntitle = \"Endless\"\nkind = \"table\"\n"
         "sql = \"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
         "SELECT max(i) FROM n\"\n";
  const auto is_drawing = [](Workspace& workspace) {
    return workspace.jobs().busy(QStringLiteral("report"));
  };
  ASSERT_TRUE(view_.open(file("s.toml")));
  ASSERT_TRUE(wait_until([&] { return view_.sweep().state() == SweepRun::State::ready; }));
  view_.sweep().start();
  ASSERT_TRUE(wait_until([&] { return view_.sweep().state() != SweepRun::State::running; }));
  ASSERT_TRUE(wait_until([&] { return is_drawing(workspace_); }));
  const std::shared_ptr<const ReportDocument> before = view_.report().report();
  workspace_.stop();
  EXPECT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  EXPECT_EQ(view_.report().report(), before);
  Workspace closed(runner_);
  SweepView other(closed);
  other.show();
  ASSERT_TRUE(other.open(file("s.toml")));
  ASSERT_TRUE(wait_until([&] { return is_drawing(closed); }));
}

TEST_F(SweepViewTest, AScenarioWithoutAReportShowsItsRows) {
  sweep_all();
  EXPECT_FALSE(view_.report().isVisible());
  QTest::keyClick(&view_, Qt::Key_R);
  ASSERT_TRUE(wait_until([&] { return view_.report().report() != nullptr; }));
  EXPECT_GT(view_.report().chart_count(), 0U) << "the usual sections";
}

}  // namespace
}  // namespace strata::gui
