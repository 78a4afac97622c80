// Sessions: the welcome, and going on where an earlier one was left.

#include <QApplication>
#include <QCommandLinkButton>
#include <QMenu>
#include <QMenuBar>
#include <QSettings>

#include <gmock/gmock.h>

#include "gui/models/text.h"
#include "tests/gui/widgets/window_test.h"

namespace strata::gui {
namespace {

using ::testing::HasSubstr;

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

TEST_F(WindowTest, GoesOnWithTheBaselineThatWasPinned) {
  window_->open_document(lenet());
  settle();
  action("Model parallelism")->trigger();
  settle();
  action("Pin as the baseline")->trigger();
  action("Data parallelism")->trigger();
  settle();
  close_window();
  make_window();
  click("go_on");
  settle();
  ASSERT_NE(workspace_->baseline(), nullptr);
  EXPECT_EQ(workspace_->baseline()->document.strategy.label(), "model");
  EXPECT_EQ(workspace_->document(), lenet());
  action("No baseline")->trigger();
  close_window();
  make_window();
  click("go_on");
  settle();
  EXPECT_EQ(workspace_->baseline(), nullptr);
}

TEST_F(WindowTest, CanBeClosedWhileItWorks) {
  window_->open_document(paper_example());
  action("Find the fastest strategy")->trigger();
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

TEST_F(WindowTest, TheWelcomeFitsASmallScreen) {
  QSettings(path("settings.ini"), QSettings::IniFormat)
      .setValue("recent", QStringList{"a.toml", "b.toml", "c.toml", "d.toml", "e.toml"});
  make_window();
  window_->resize(640, 480);
  QCoreApplication::processEvents();
  EXPECT_EQ(window_->size(), QSize(640, 480));
}

TEST_F(WindowTest, TheWelcomesButtonsAreAsHighAsTheirTexts) {
  window_->resize(1400, 900);
  QCoreApplication::processEvents();
  for (const auto* way : window_->findChildren<QCommandLinkButton*>()) {
    EXPECT_EQ(way->height(), way->heightForWidth(way->width())) << way->text().toStdString();
  }
}

TEST_F(WindowTest, NoViewIsBroughtBesideTheWelcome) {
  window_->bring_to_front(window_->view("sweep"));
  EXPECT_FALSE(window_->view("sweep")->isVisible());
}

TEST_F(WindowTest, RecentFilesAreInTheMenu) {
  window_->open_document(lenet());
  const QString net = file("mine.toml", "[network]\n");
  QSettings(path("settings.ini"), QSettings::IniFormat).setValue("recent", QStringList{net});
  QMenu* const menu = window_->menuBar()->actions().front()->menu();
  emit menu->aboutToShow();
  QStringList files;
  for (QAction* action : menu->actions()) {
    if (action->menu() == nullptr) continue;
    for (const QAction* recent : action->menu()->actions()) files << recent->text();
  }
  EXPECT_EQ(files, QStringList{"mine.toml"});
}

TEST_F(WindowTest, EveryViewHasAKey) {
  QStringList with_keys;
  for (const QAction* menu : window_->menuBar()->actions()) {
    for (const QAction* action : menu->menu()->actions()) {
      if (!action->shortcut().isEmpty()) with_keys << action->text();
    }
  }
  for (const View* view : window_->views()) {
    EXPECT_TRUE(with_keys.contains(view->title())) << view->title().toStdString();
  }
}

}  // namespace
}  // namespace strata::gui
