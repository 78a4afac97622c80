// The window as a user finds it: the welcome, two clicks to the fastest strategy, edits, and files
// of all kinds. Sessions: sessions_test.cpp.

#include "tests/gui/widgets/window_test.h"

#include <QDialog>
#include <QDockWidget>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QScreen>
#include <QSettings>
#include <QStatusBar>
#include <QToolButton>
#include <atomic>

#include <gmock/gmock.h>

#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(WindowTest, WelcomesAndLeadsToTheFastestStrategyInTwoClicks) {
  ASSERT_NE(window_->findChild<QWidget*>("welcome"), nullptr);
  click("paper_example");
  settle();
  click("find_fastest");
  settle();
  const Case input = load_case(workspace_->document().input);
  EXPECT_EQ(workspace_->scene()->prediction.strategy.called(""),
            load_strategy("optimal", input).called(""));
  EXPECT_EQ(workspace_->baseline()->prediction.strategy, load_strategy("data", input));
  EXPECT_EQ(window_->findChild<QWidget*>("welcome"), nullptr);
  EXPECT_THAT(window_->findChild<QLabel*>("result")->text().toStdString(), HasSubstr("a step"));
}

// Closed maximised, the next one begins so, and with nothing on the desk it has the first page
// alone.
TEST_F(WindowTest, TheFirstPageFillsAWindowThatWasMaximised) {
  window_->showMaximized();
  window_->open_document(lenet());
  settle();
  close_window();
  make_window();
  ASSERT_TRUE(testing::wait_until([&] { return window_->isMaximized(); }));
  QTest::qWait(100);  // for its size
  const auto* welcome = window_->findChild<QWidget*>("welcome");
  ASSERT_NE(welcome, nullptr);
  EXPECT_GT(welcome->height(), window_->height() / 2);
  for (const QDockWidget* dock : window_->findChildren<QDockWidget*>()) {
    EXPECT_FALSE(dock->isVisible()) << dock->objectName().toStdString();
  }
}

TEST_F(WindowTest, NeitherErrorsNorJobsMoveAnything) {
  window_->open_document(lenet());
  settle();
  const auto places = [&] {
    std::vector<QRect> all;
    for (const QDockWidget* dock : window_->findChildren<QDockWidget*>()) {
      all.push_back(dock->geometry());
    }
    all.push_back(window_->statusBar()->geometry());
    return all;
  };
  const std::vector<QRect> before = places();
  window_->show_error("something\nof several lines\nis wrong");
  QCoreApplication::processEvents();
  EXPECT_EQ(places(), before);
  EXPECT_TRUE(window_->findChild<QWidget*>("error")->isVisible());
  window_->show_error({});
  std::atomic<bool> end = false;
  workspace_->jobs().start(window_.get(), "test", "a job",
                           [&end](Progress&) -> Jobs::Show {
                             end.wait(false);
                             return {};
                           },
                           {});
  const auto* stop = window_->findChild<QWidget*>("job_bar")->findChild<QToolButton*>();
  ASSERT_TRUE(testing::wait_until([&] { return stop->isVisible(); }));
  EXPECT_EQ(places(), before);
  end = true;
  end.notify_all();
  settle();
  EXPECT_EQ(places(), before);
}

// By a click on whatever of it, too.
TEST_F(WindowTest, ExportsTheViewThatWasUsedLast) {
  window_->open_document(lenet());
  settle();
  window_->bring_to_front(window_->view("timeline"));
  EXPECT_EQ(plain_name(*action("Export ")), "Export Timeline");
  View* const what_if = window_->view("what_if");
  QTest::mouseClick(what_if->findChild<QLabel*>(), Qt::LeftButton);
  EXPECT_EQ(plain_name(*action("Export ")), "Export What if");
  EXPECT_EQ(plain_name(*action("Copy ")), "Copy What if as a command");
}

TEST_F(WindowTest, TheFirstWindowFitsTheScreen) {
  if (QGuiApplication::platformName() == "offscreen") GTEST_SKIP() << "there is no screen to fit";
  ASSERT_TRUE(testing::wait_until([&] { return window_->isActiveWindow(); }));
  QTest::qWait(100);  // for its frame
  EXPECT_LE(window_->frameGeometry().width(), window_->screen()->availableSize().width());
  EXPECT_LE(window_->frameGeometry().height(), window_->screen()->availableSize().height());
}

// What simulations of many strategies find is no slower than data parallelism, which is one of
// them, or the optimum under Eq. 1.
TEST_F(WindowTest, FindsTheFastestStrategy) {
  Document alexnet = lenet();
  alexnet.input.model = "alexnet";
  alexnet.input.cluster = "p100-1x4";
  window_->open_document(alexnet);
  settle();
  action("Find the fastest strategy")->trigger();
  settle();
  EXPECT_EQ(window_->shown_error(), "");
  EXPECT_EQ(workspace_->document().strategy.label(), "best");
  EXPECT_LE(workspace_->scene()->prediction.step_seconds(),
            workspace_->baseline()->prediction.step_seconds());
  workspace_->set_config({LayerId(1)}, config_on_first_devices(kWhole));
  EXPECT_EQ(workspace_->document().strategy.label(), "best, edited");
}

// 3.64 times as fast as data parallelism, whose gradients all meet at the parameter servers.
TEST_F(WindowTest, ThePapersExampleHasParameterServers) {
  click("paper_example");
  settle();
  EXPECT_EQ(workspace_->document().input.training.sync.algorithm, SyncAlgorithm::ps);
  click("find_fastest");
  settle();
  EXPECT_GT(workspace_->baseline()->prediction.step_seconds(),
            3 * workspace_->scene()->prediction.step_seconds());
  EXPECT_EQ(usual_document().input.training.sync, CaseRequest().training.sync)
      << "what stands beside a file";
}

// Some 200 simulations; what the first ones found is the answer.
TEST_F(WindowTest, ASearchThatIsStoppedKeepsTheBestSoFar) {
  Document resnet = lenet();
  resnet.input.model = "resnet50";
  resnet.input.cluster = "p100-4x4";
  window_->open_document(resnet);
  settle();
  auto* button = window_->findChild<QAbstractButton*>("find_fastest");
  auto* gap = window_->findChild<QLabel*>("gap_to_fastest");
  EXPECT_EQ(button->text(), "Find fastest");
  click("find_fastest");
  EXPECT_EQ(button->text(), "Stop");
  ASSERT_TRUE(testing::wait_until(
      [&] { return gap->text().contains("so far, at most") || workspace_->jobs().idle(); }));
  ASSERT_FALSE(workspace_->jobs().idle()) << "it told what it had while it ran";
  click("find_fastest");
  settle();
  EXPECT_EQ(button->text(), "Find fastest");
  EXPECT_EQ(window_->shown_error(), "");
  EXPECT_TRUE(window_->statusBar()->currentMessage().startsWith("Stopped: the best so far"));
  EXPECT_EQ(workspace_->document().strategy.label(), "best");
  EXPECT_LE(workspace_->scene()->prediction.step_seconds(),
            workspace_->baseline()->prediction.step_seconds());
  EXPECT_THAT(gap->text().toStdString(), HasSubstr("from the fastest"));
}

TEST_F(WindowTest, UndoesAndRedoes) {
  window_->open_document(lenet());
  settle();
  action("Model parallelism")->trigger();
  settle();
  EXPECT_EQ(workspace_->document().strategy.source, "model");
  action("Undo")->trigger();
  EXPECT_EQ(workspace_->document(), lenet());
  action("Redo")->trigger();
  EXPECT_EQ(workspace_->document().strategy.source, "model");
}

TEST_F(WindowTest, NoStrategyOfNothing) {
  action("Find the fastest strategy")->trigger();
  EXPECT_TRUE(workspace_->document().empty());
  EXPECT_TRUE(workspace_->jobs().idle());
  EXPECT_NE(window_->findChild<QWidget*>("welcome"), nullptr);
}

TEST_F(WindowTest, FindsActionsByAFewLetters) {
  action("Find an action")->trigger();
  auto* palette = window_->findChild<CommandPalette*>();
  ASSERT_NE(palette, nullptr);
  QTest::keyClicks(palette->findChild<QLineEdit*>(), "dk col");
  ASSERT_FALSE(palette->matches().empty());
  EXPECT_EQ(plain_name(*palette->matches().front()), "Dark colours");
}

TEST(Palette, PrefersTheBeginningsOfWords) {
  EXPECT_LT(match("Solve", "x"), 0);
  EXPECT_GT(match("Save the strategy", "sts"), match("Select nothing", "sts"));
  EXPECT_GT(match("Pin as the baseline", "pb"), match("Open the paper's example", "pb"));
}

TEST_F(WindowTest, ShowsTheKeys) {
  action("Keys")->trigger();
  EXPECT_NE(window_->findChild<QDialog*>("keys"), nullptr);
}

TEST_F(WindowTest, OpensAStrategyThatItSaved) {
  window_->open_document(lenet());
  settle();
  workspace_->set_config({LayerId(1)}, config_on_first_devices(kWhole));
  settle();
  const Strategy edited = workspace_->scene()->prediction.strategy;
  window_->save_strategy(path("mine.json"));
  action("Data parallelism")->trigger();
  open_file(path("mine.json"));
  settle();
  EXPECT_TRUE(std::equal(edited.configs().begin(), edited.configs().end(),
                         workspace_->scene()->prediction.strategy.configs().begin()));
}

TEST_F(WindowTest, CommandsNameTheFileOfEditedCuts) {
  window_->open_document(lenet());
  settle();
  workspace_->set_config({LayerId(1)}, config_on_first_devices(kWhole));
  settle();
  View* const what_if = window_->view("what_if");
  EXPECT_TRUE(what_if->command().endsWith("--strategy strategy.json"));
  window_->copy_command(what_if);
  EXPECT_THAT(window_->statusBar()->currentMessage().toStdString(), HasSubstr("Ctrl+S"));
  window_->save_strategy(path("mine.json"));
  EXPECT_TRUE(what_if->command().endsWith("--strategy " + path("mine.json")));
  window_->copy_command(what_if);
  EXPECT_THAT(window_->statusBar()->currentMessage().toStdString(), Not(HasSubstr("Ctrl+S")));
  workspace_->set_config({LayerId(2)}, config_on_first_devices(kWhole));
  settle();
  EXPECT_TRUE(what_if->command().endsWith("--strategy strategy.json")) << "that is not saved";
}

TEST_F(WindowTest, AStrategyOnAnEmptyDeskLiesOnItsOwnCase) {
  const QString strategy = file("cut.json", R"({"strategy": "cut", "model": "lenet5",
    "cluster": "p100-1x2", "default": {"n": 2}})");
  open_file(strategy);
  EXPECT_EQ(window_->shown_error(), "");
  EXPECT_EQ(workspace_->document().input.model, "lenet5");
  EXPECT_EQ(workspace_->document().input.cluster, "p100-1x2");
  settle();
  EXPECT_EQ(workspace_->scene()->prediction.strategy.name(), "cut");
}

TEST_F(WindowTest, AStrategyOfANetworkOfOnesOwnAsksForIt) {
  open_file(file("cut.json", R"({"model": "mine", "default": {"n": 2}})"));
  EXPECT_TRUE(window_->shown_error().endsWith(
      "it is for the network mine; allowed: open the file of that first"));
  EXPECT_TRUE(workspace_->document().empty());
}

TEST_F(WindowTest, ADroppedClusterIsPutUnderTheNetwork) {
  window_->open_document(lenet());
  const QString cluster = file("two.toml", R"(
name = "two"
[grid]
hosts = 1
devices_per_host = 2
kind = "p100"
[grid.intra]
topology = "all-to-all"
bandwidth = "10 GB/s"
latency = "1 us"
)");
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(cluster)});
  QDropEvent drop(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(window_.get(), &enter);
  EXPECT_TRUE(enter.isAccepted());
  QCoreApplication::sendEvent(window_.get(), &drop);
  settle();
  EXPECT_EQ(window_->shown_error(), "");
  EXPECT_EQ(workspace_->document().input.model, "lenet5");
  EXPECT_EQ(workspace_->document().input.cluster, cluster.toStdString());
  settle();
  EXPECT_EQ(workspace_->error(), "");
}

TEST_F(WindowTest, SaysInPlaceWhatIsWrongWithAFile) {
  open_file(path("nowhere.toml"));
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("nowhere.toml"));
  window_->open_document(lenet());
  settle();
  open_file(file("bad.toml", "name = \"x\"\n[[layer]]\nname = \"a\"\nop = \"fold\"\n"));
  settle();
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("bad.toml:"));
  EXPECT_EQ(workspace_->document(), lenet()) << "nothing took its place";
}

TEST_F(WindowTest, ExportsEveryView) {
  window_->open_document(lenet());
  settle();
  for (View* view : window_->views()) {
    window_->bring_to_front(view);
    settle();
    for (const QString& format : view->formats()) {
      const QString to = path(view->id() + '.' + format);
      window_->export_view(view, to);
      settle();
      EXPECT_EQ(window_->shown_error(), "");
      EXPECT_GT(QFileInfo(to).size(), format == "csv" ? 20 : 1000) << to.toStdString();
    }
  }
  window_->export_view(window_->views().front(), path("network.gif"));
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("allowed: png, svg, csv"));
  EXPECT_FALSE(QFileInfo::exists(path("network.gif")));
}

constexpr const char* kNet = R"(
name = "net"
[[layer]]
name = "data"
op = "input"
shape = [3, 8, 8]
[[layer]]
name = "fc"
op = "fc"
out_features = %1
[[layer]]
name = "loss"
op = "softmax_cross_entropy"
)";

TEST_F(WindowTest, ReadsAFileAnewThatIsOpenedAgain) {
  window_->open_document(lenet());
  const QString path = file("net.toml", QString::fromLatin1(kNet).arg(10).toLatin1());
  open_file(path);
  settle();
  ASSERT_EQ(window_->shown_error(), "");
  EXPECT_EQ(workspace_->scene()->input.graph[LayerId(1)].output[Dim::c], 10);
  file("net.toml", QString::fromLatin1(kNet).arg(20).toLatin1());
  open_file(path);
  settle();
  EXPECT_EQ(workspace_->scene()->input.graph[LayerId(1)].output[Dim::c], 20);
}

TEST_F(WindowTest, SaysWhatIsWrongWithEachOfSeveralFiles) {
  open_files({path("a.toml"), path("b.toml")});
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("a.toml"));
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("b.toml"));
}

TEST_F(WindowTest, ComparesNothingWithAnotherNetwork) {
  window_->open_document(lenet());
  settle();
  Document other = lenet();
  other.input.model = "alexnet";
  workspace_->edit("network alexnet", other);
  EXPECT_EQ(workspace_->baseline(), nullptr) << "until alexnet's is predicted";
  settle();
  EXPECT_EQ(workspace_->baseline()->document.input.model, "alexnet");
  other.input.training.batch_per_device = 64;
  workspace_->edit("batch", other);
  settle();
  EXPECT_EQ(workspace_->baseline()->document, other) << "data parallelism goes along";
  workspace_->pin_baseline();
  other.input.training.batch_per_device = 16;
  workspace_->edit("batch", other);
  settle();
  EXPECT_EQ(workspace_->baseline()->document.input.training.batch_per_device, 64)
      << "what is pinned stays";
}

TEST_F(WindowTest, StopsWhatRunsInTheBackground) {
  Document large = lenet();
  large.input.model = "inception_v3";
  large.input.cluster = "p100-16x4";
  window_->open_document(large);
  action("Stop what runs")->trigger();
  settle();
  EXPECT_EQ(workspace_->scene(), nullptr);
  EXPECT_EQ(workspace_->document(), large) << "no edit is lost";
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("Stopped"));
  workspace_->edit("smaller", lenet());
  settle();
  EXPECT_TRUE(workspace_->scene()->document == lenet());
}

TEST_F(WindowTest, AFileIsCalledByItsName) {
  const QString net = file("net.toml", QString::fromLatin1(kNet).arg(10).toLatin1());
  Document document = lenet();
  document.input.model = net.toStdString();
  window_->open_document(document);
  settle();
  EXPECT_EQ(window_->windowTitle().toStdString(), "net.toml on p100-1x2 — Strata");
  auto* model = window_->findChild<QComboBox*>("model");
  EXPECT_EQ(model->currentText(), "net.toml");
  EXPECT_EQ(model->toolTip(), net);
  QTest::keyClick(model->lineEdit(), Qt::Key_Return);
  EXPECT_EQ(workspace_->document(), document) << "the name is still that file's";
}

TEST_F(WindowTest, RemembersFilesThatCouldBeRead) {
  const QString good = file("net.toml", QString::fromLatin1(kNet).arg(10).toLatin1());
  const QString bad = file("cut-off.db", QByteArray("SQLite format 3\0", 16));
  open_files({good, bad});
  settle();
  const QSettings settings(path("settings.ini"), QSettings::IniFormat);
  EXPECT_EQ(settings.value("recent").toStringList(), QStringList{good});
}

// Instead of fields that are nobody's.
TEST_F(WindowTest, SaysThatNothingIsOnTheDesk) {
  open_file(file("cut-off.db", QByteArray("SQLite format 3\0", 16)));
  settle();
  EXPECT_TRUE(window_->findChild<QLabel*>("nothing")->isVisible());
  EXPECT_FALSE(window_->findChild<QComboBox*>("model")->isVisible());
  window_->bring_to_front(window_->view("what_if"));
  EXPECT_THAT(window_->view("what_if")->instead().toStdString(), HasSubstr("No network yet"));
  window_->open_document(lenet());
  settle();
  EXPECT_FALSE(window_->findChild<QLabel*>("nothing")->isVisible());
  EXPECT_TRUE(window_->findChild<QComboBox*>("model")->isVisible());
  EXPECT_EQ(window_->view("what_if")->instead(), "");
}

TEST_F(WindowTest, FitsASmallScreen) {
  window_->open_document(lenet());
  settle();
  for (View* view : window_->views()) {
    window_->bring_to_front(view);
    settle();
    window_->resize(640, 480);
    QCoreApplication::processEvents();
    EXPECT_EQ(window_->size(), QSize(640, 480)) << view->id().toStdString();
    for (const char* name : {"find_fastest", "result"}) {
      EXPECT_TRUE(window_->findChild<QWidget*>(name)->isVisible()) << name << " has room";
    }
  }
}

TEST_F(WindowTest, ChangesItsColours) {
  action("Dark colours")->trigger();
  QCoreApplication::processEvents();
  EXPECT_TRUE(theme_of(window_->palette()).dark);
  action("Light colours")->trigger();
  QCoreApplication::processEvents();
  EXPECT_FALSE(theme_of(window_->palette()).dark);
}

}  // namespace
}  // namespace strata::gui
