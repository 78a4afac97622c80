// The window as a user finds it: the welcome, three clicks to the optimal strategy, edits, files of
// all kinds, sessions, and closing in the midst of work.

#include <QAbstractButton>
#include <QClipboard>
#include <QCommandLinkButton>
#include <QDialog>
#include <QDockWidget>
#include <QFile>
#include <QFileInfo>
#include <QLineEdit>
#include <QMimeData>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include <gmock/gmock.h>

#include "gui/models/text.h"
#include "gui/widgets/window/command_palette.h"
#include "gui/widgets/window/main_window.h"
#include "sim/study/search/solve.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {
namespace {

using ::testing::HasSubstr;
using testing::wait_until;

class WindowTest : public ::testing::Test {
 protected:
  WindowTest() { make_window(); }

  void make_window() {
    window_.reset();
    workspace_ = std::make_unique<Workspace>(runner_);
    window_ = std::make_unique<MainWindow>(*workspace_,
                                           WindowOptions{path("sessions"), path("settings.ini")});
    window_->show();
  }
  void close_window() {
    window_->close();
    window_.reset();
    workspace_.reset();
  }

  QString path(const QString& name) const { return folder_.filePath(name); }
  QString file(const QString& name, const QByteArray& text) const {
    QFile file(path(name));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text);
    return path(name);
  }
  void settle() {
    ASSERT_TRUE(wait_until([&] { return workspace_->jobs().idle(); }));
  }
  void click(const QString& name) {
    auto* button = window_->findChild<QAbstractButton*>(name);
    ASSERT_NE(button, nullptr) << name.toStdString();
    QTest::mouseClick(button, Qt::LeftButton);
  }
  QAction* action(const QString& name) {
    for (QAction* action : window_->findChildren<QAction*>()) {
      if (plain_name(*action).startsWith(name)) return action;
    }
    ADD_FAILURE() << "no action '" << name.toStdString() << "'";
    return nullptr;
  }
  Document lenet() const {
    Document document;
    document.input.model = "lenet5";
    document.input.cluster = "p100-1x2";
    return document;
  }

  QTemporaryDir folder_;
  testing::NoDevices runner_;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<MainWindow> window_;
};

TEST_F(WindowTest, WelcomesAndLeadsToTheOptimalStrategyInTwoClicks) {
  ASSERT_NE(window_->findChild<QWidget*>("welcome"), nullptr);
  click("paper_example");
  settle();
  action("Solve")->trigger();
  settle();
  const Case input = load_case(workspace_->document().input);
  EXPECT_EQ(workspace_->scene()->prediction.strategy, load_strategy("optimal", input));
  EXPECT_EQ(workspace_->baseline()->prediction.strategy, load_strategy("data", input));
  EXPECT_EQ(window_->findChild<QWidget*>("welcome"), nullptr);
  EXPECT_THAT(window_->findChild<QLabel*>("result")->text().toStdString(), HasSubstr("a step"));
}

// What simulations of many strategies find is no slower than data parallelism, which is one of
// them.
TEST_F(WindowTest, SearchesOnUnderTheSimulatedStep) {
  Document alexnet = lenet();
  alexnet.input.model = "alexnet";
  alexnet.input.cluster = "p100-1x4";
  window_->open_document(alexnet);
  settle();
  action("Search on by the simulated step")->trigger();
  settle();
  EXPECT_EQ(window_->shown_error(), "");
  EXPECT_EQ(workspace_->document().strategy.label(), "refined");
  EXPECT_LE(workspace_->scene()->prediction.step_seconds(),
            workspace_->baseline()->prediction.step_seconds());
  workspace_->set_config({LayerId(1)}, config_on_first_devices(kWhole));
  EXPECT_EQ(workspace_->document().strategy.label(), "optimal, edited");
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

TEST_F(WindowTest, AFieldIsAnEdit) {
  window_->open_document(lenet());
  settle();
  auto* batch = window_->findChild<QSpinBox*>("batch");
  batch->setValue(64);
  EXPECT_EQ(workspace_->document().input.batch_per_device, 64);
  workspace_->undo_stack().undo();
  EXPECT_EQ(batch->value(), 32);
}

TEST_F(WindowTest, SaysThatANameIsUnknown) {
  window_->open_document(lenet());
  settle();
  auto* model = window_->findChild<QComboBox*>("model");
  model->setEditText("foo");
  QTest::keyClick(model->lineEdit(), Qt::Key_Return);
  settle();
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("'foo'"));
  action("Undo")->trigger();
  settle();
  EXPECT_EQ(window_->shown_error(), "");
  EXPECT_EQ(model->currentText(), "lenet5");
}

TEST_F(WindowTest, SumsGradientsInBucketsOfAnySize) {
  window_->open_document(lenet());
  settle();
  auto* bucket = window_->findChild<QComboBox*>("bucket");
  const auto type = [&](const char* text) {
    bucket->setEditText(text);
    QTest::keyClick(bucket->lineEdit(), Qt::Key_Return);
    settle();
  };
  EXPECT_EQ(bucket->currentText(), "25 MiB");
  type("2 kB");
  EXPECT_EQ(workspace_->document().input.sync.bucket, Bytes{2000});
  EXPECT_EQ(bucket->currentText(), "2000");
  type("lots");
  EXPECT_EQ(workspace_->document().input.sync.bucket, Bytes{2000});
  EXPECT_EQ(bucket->currentText(), "2000");
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("bucket: 'lots' is not a size"));
  Document ps = lenet();
  ps.input.sync.algorithm = SyncAlgorithm::ps;
  window_->open_document(ps);
  settle();
  EXPECT_FALSE(bucket->isEnabled());
}

TEST_F(WindowTest, NoStrategyOfNothing) {
  action("Solve")->trigger();
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
  EXPECT_TRUE(window_->open_file(path("mine.json")));
  settle();
  EXPECT_TRUE(std::equal(edited.configs().begin(), edited.configs().end(),
                         workspace_->scene()->prediction.strategy.configs().begin()));
}

TEST_F(WindowTest, AStrategyOnAnEmptyDeskLiesOnItsOwnCase) {
  const QString strategy = file("cut.json", R"({"strategy": "cut", "model": "lenet5",
    "cluster": "p100-1x2", "default": {"n": 2}})");
  EXPECT_TRUE(window_->open_file(strategy)) << window_->shown_error().toStdString();
  EXPECT_EQ(workspace_->document().input.model, "lenet5");
  EXPECT_EQ(workspace_->document().input.cluster, "p100-1x2");
  settle();
  EXPECT_EQ(workspace_->scene()->prediction.strategy.name(), "cut");
}

TEST_F(WindowTest, AStrategyOfANetworkOfOnesOwnAsksForIt) {
  EXPECT_FALSE(window_->open_file(file("cut.json", R"({"model": "mine", "default": {"n": 2}})")));
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
  EXPECT_EQ(window_->shown_error(), "");
  EXPECT_EQ(workspace_->document().input.model, "lenet5");
  EXPECT_EQ(workspace_->document().input.cluster, cluster.toStdString());
  settle();
  EXPECT_EQ(workspace_->error(), "");
}

TEST_F(WindowTest, SaysInPlaceWhatIsWrongWithAFile) {
  EXPECT_FALSE(window_->open_file(path("nowhere.toml")));
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("nowhere.toml"));
  window_->open_document(lenet());
  settle();
  window_->open_file(file("bad.toml", "name = \"x\"\n[[layer]]\nname = \"a\"\nop = \"fold\"\n"));
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
  EXPECT_TRUE(window_->open_file(path));
  settle();
  ASSERT_EQ(window_->shown_error(), "");
  EXPECT_EQ(workspace_->scene()->input.graph[LayerId(1)].output[Dim::c], 10);
  file("net.toml", QString::fromLatin1(kNet).arg(20).toLatin1());
  EXPECT_TRUE(window_->open_file(path));
  settle();
  EXPECT_EQ(workspace_->scene()->input.graph[LayerId(1)].output[Dim::c], 20);
}

TEST_F(WindowTest, SaysWhatIsWrongWithEachOfSeveralFiles) {
  EXPECT_FALSE(window_->open_files({path("a.toml"), path("b.toml")}));
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
  other.input.batch_per_device = 64;
  workspace_->edit("batch", other);
  settle();
  EXPECT_EQ(workspace_->baseline()->document, other) << "data parallelism goes along";
  workspace_->pin_baseline();
  other.input.batch_per_device = 16;
  workspace_->edit("batch", other);
  settle();
  EXPECT_EQ(workspace_->baseline()->document.input.batch_per_device, 64) << "what is pinned stays";
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

TEST_F(WindowTest, GoesOnWhereTheLastSessionWas) {
  window_->open_document(lenet());
  action("Model parallelism")->trigger();
  const Document left = workspace_->document();
  close_window();
  make_window();
  EXPECT_TRUE(workspace_->document().empty());
  click("go_on");
  EXPECT_EQ(workspace_->document(), left);
}

TEST_F(WindowTest, CanBeClosedWhileItWorks) {
  window_->open_document(paper_example());
  action("Solve")->trigger();
  close_window();
  make_window();
  EXPECT_NE(window_->findChild<QAbstractButton*>("go_on"), nullptr);
}

// As after a start with a file: what was left before can still be gone on with.
TEST_F(WindowTest, OffersOlderSessionsToo) {
  window_->open_document(lenet());
  settle();
  close_window();
  make_window();
  window_->open_document(paper_example());
  settle();
  close_window();
  const auto set_age = [&](const char* name, int seconds) {
    QFile session(path(name));
    ASSERT_TRUE(session.open(QIODevice::ReadWrite));
    ASSERT_TRUE(session.setFileTime(QDateTime::currentDateTime().addSecs(-seconds),
                                    QFileDevice::FileModificationTime));
  };
  set_age("sessions/1.json", 36 * 3600);
  set_age("sessions/2.json", 90 * 60);
  make_window();
  const auto ways = window_->findChildren<QCommandLinkButton*>("go_on");
  ASSERT_EQ(ways.size(), 2);
  EXPECT_EQ(ways[0]->text(), "Go on with vgg16 on p100-4x4");
  EXPECT_THAT(ways[0]->description().toStdString(), HasSubstr("left 1 hour ago"));
  EXPECT_EQ(ways[1]->text(), "Or with lenet5 on p100-1x2, left 1 day ago");
  QTest::mouseClick(ways[1], Qt::LeftButton);
  EXPECT_EQ(workspace_->document(), lenet());
}

TEST(Ages, AreToldInTheLargestWholeUnit) {
  using std::chrono::seconds;
  EXPECT_EQ(human_age(seconds(-3)), "just now");
  EXPECT_EQ(human_age(seconds(59)), "just now");
  EXPECT_EQ(human_age(seconds(60)), "1 minute ago");
  EXPECT_EQ(human_age(seconds(3 * 3600 + 1800)), "3 hours ago");
  EXPECT_EQ(human_age(seconds(49 * 3600)), "2 days ago");
}

TEST(Recent, FilesThatAreCalledTheSameAreToldByTheirFolders) {
  EXPECT_EQ(folders_that_tell({"/a/net.toml", "/b/x.toml", "/c/net.toml"}),
            (QStringList{"/a", "", "/c"}));
}

// The example without its last session, then a file; Return takes what has the focus.
TEST_F(WindowTest, TheWelcomeIsWalkedThroughByKeys) {
  window_->activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(window_.get()));
  const auto focused = [] { return QApplication::focusWidget()->objectName().toStdString(); };
  ASSERT_EQ(focused(), "paper_example");
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
  EXPECT_EQ(focused(), "open_file");
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Backtab);
  ASSERT_EQ(focused(), "paper_example");
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
  EXPECT_EQ(workspace_->document(), paper_example());
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
  window_->open_files({good, bad});
  settle();
  const QSettings settings(path("settings.ini"), QSettings::IniFormat);
  EXPECT_EQ(settings.value("recent").toStringList(), QStringList{good});
}

// Instead of fields that are nobody's.
TEST_F(WindowTest, SaysThatNothingIsOnTheDesk) {
  window_->open_file(file("cut-off.db", QByteArray("SQLite format 3\0", 16)));
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

TEST_F(WindowTest, TheWelcomeFitsASmallScreen) {
  QSettings(path("settings.ini"), QSettings::IniFormat)
      .setValue("recent", QStringList{"a.toml", "b.toml", "c.toml", "d.toml", "e.toml"});
  make_window();
  window_->resize(640, 480);
  QCoreApplication::processEvents();
  EXPECT_EQ(window_->size(), QSize(640, 480));
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
  }
}

// What has colours in its text, too, and without another answer.
TEST_F(WindowTest, ChangesTheColoursOfItsResult) {
  action("Light colours")->trigger();
  window_->open_document(lenet());
  settle();
  action("Model parallelism")->trigger();
  settle();
  const QString light = window_->findChild<QLabel*>("result")->text();
  action("Dark colours")->trigger();
  QCoreApplication::processEvents();
  EXPECT_NE(window_->findChild<QLabel*>("result")->text(), light);
  action("Light colours")->trigger();
  QCoreApplication::processEvents();
  EXPECT_EQ(window_->findChild<QLabel*>("result")->text(), light);
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
