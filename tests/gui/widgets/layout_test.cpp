// The window's docks and bars: which view is the active one, the usual layout, what errors
// cover, what never moves.

#include <QComboBox>
#include <QLabel>
#include <QScrollBar>
#include <QTabBar>
#include <QToolBar>
#include <vector>

#include <gmock/gmock.h>

#include "gui/widgets/scrolled_content.h"
#include "tests/gui/widgets/window_test.h"

namespace strata::gui {
namespace {

// A click on the tab of what is in front makes it the active view. The focus that a dialog gives
// back to what is behind it does not.
TEST_F(WindowTest, TheActiveViewCanBeSeen) {
  window_->open_document(lenet());
  settle();
  View *const timeline = window_->view("timeline"), *const memory = window_->view("memory");
  window_->bring_to_front(timeline);
  const auto click_tab = [&](const View& view) {
    for (QTabBar* tabs : window_->findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) {
      for (int tab = 0; tab < tabs->count(); ++tab) {
        if (tabs->tabText(tab) != view.title()) continue;
        QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(tab).center());
      }
    }
    QCoreApplication::processEvents();
  };
  click_tab(*memory);
  EXPECT_EQ(plain_name(*action("Export ")), "Export Memory");
  timeline->setFocus();
  EXPECT_EQ(plain_name(*action("Export ")), "Export Memory");
  window_->bring_to_front(window_->view("what_if"));
  click_tab(*memory);
  EXPECT_EQ(plain_name(*action("Export ")), "Export Memory");
}

std::vector<QRect> places(const MainWindow& window) {
  std::vector<QRect> all;
  for (const QDockWidget* dock : window.findChildren<QDockWidget*>()) {
    all.push_back(dock->geometry());
  }
  for (const QToolBar* bar : window.findChildren<QToolBar*>()) all.push_back(bar->geometry());
  for (const QComboBox* field : window.findChildren<QComboBox*>()) {
    if (field->isVisible()) all.emplace_back(field->mapTo(&window, QPoint()), field->size());
  }
  return all;
}

// Maximised, as most windows are.
TEST_F(WindowTest, NothingMovesFromStartToStart) {
  window_->showMaximized();
  window_->open_document(lenet());
  settle();
  QTest::qWait(100);  // for its size
  const std::vector<QRect> before = places(*window_);
  for (int start = 0; start < 3; ++start) {
    close_window();
    make_window();
    ASSERT_TRUE(testing::wait_until([&] { return window_->isMaximized(); }));
    QTest::qWait(100);
    click("go_on");
    settle();
    QTest::qWait(100);
    EXPECT_EQ(places(*window_), before) << "at start " << start;
  }
}

TEST_F(WindowTest, NothingMovesWhereACaseIsNotPredicted) {
  window_->open_document(lenet());
  settle();
  const std::vector<QRect> before = places(*window_);
  for (int time = 0; time < 3; ++time) {
    workspace_->set_strategy({"no_such_file.json"});
    settle();
    EXPECT_FALSE(workspace_->error().isEmpty());
    EXPECT_EQ(places(*window_), before);
    workspace_->undo_stack().undo();
    settle();
    EXPECT_EQ(places(*window_), before);
  }
}

TEST_F(WindowTest, NothingMovesDuringASearch) {
  Document alexnet = lenet();
  alexnet.input.model = "alexnet";
  alexnet.input.cluster = "p100-4x4";
  window_->resize(1024, 700);
  window_->open_document(alexnet);
  settle();
  const std::vector<QRect> before = places(*window_);
  const auto* gap = window_->findChild<QLabel*>("gap_to_fastest");
  click("find_fastest");
  ASSERT_TRUE(testing::wait_until([&] { return gap->text().contains("so far"); }));
  QCoreApplication::processEvents();
  EXPECT_EQ(places(*window_), before);
  settle();
  EXPECT_EQ(places(*window_), before);
}

// As on a screen of 1920 x 1200 at twice the scale, and smaller.
TEST_F(WindowTest, ASmallWindowHasEveryFieldAndTheStep) {
  window_->open_document(paper_example());
  settle();
  for (const QSize size : {QSize(1024, 700), QSize(952, 552), QSize(800, 600)}) {
    window_->resize(size);
    QTest::qWait(50);
    EXPECT_EQ(window_->size(), size);
    for (const char* name : {"model", "cluster", "batch_per_device", "sync", "bucket", "dtype",
                             "strategy", "more", "result", "trust", "search", "find_fastest"}) {
      const auto* part = window_->findChild<QWidget*>(name);
      EXPECT_TRUE(part->isVisible()) << name;
      const int right = part->mapTo(window_.get(), QPoint(part->width(), 0)).x();
      EXPECT_LE(right, window_->width()) << name;
    }
  }
}

// A bar that scrolls a view has none beside it that scrolls a part of the view in the same
// direction.
TEST_F(WindowTest, NoScrollBarsAreNested) {
  window_->open_document(paper_example());
  settle();
  for (const QSize size : {QSize(1024, 700), QSize(952, 552)}) {
    window_->resize(size);
    QTest::qWait(50);
    for (const View* view : window_->views()) {
      window_->bring_to_front(window_->view(view->id()));
      QTest::qWait(20);
      const auto* around = view->findChild<ScrolledContent*>();
      for (const QScrollBar* bar : {around->horizontalScrollBar(), around->verticalScrollBar()}) {
        if (!bar->isVisible()) continue;
        for (const QScrollBar* inner : around->widget()->findChildren<QScrollBar*>()) {
          EXPECT_FALSE(inner->isVisible() && inner->orientation() == bar->orientation())
              << view->id().toStdString() << " in " << size.width();
        }
      }
    }
  }
}

TEST_F(WindowTest, TheUsualLayoutHasTheBars) {
  action("Usual layout")->trigger();
  EXPECT_FALSE(window_->findChild<QWidget*>("find_fastest")->isVisible()) << "on the first page";
  window_->showMaximized();
  window_->open_document(lenet());
  settle();
  action("Usual layout")->trigger();
  QCoreApplication::processEvents();
  for (const char* name : {"find_fastest", "result"}) {
    EXPECT_TRUE(window_->findChild<QWidget*>(name)->isVisible()) << name;
  }
}

// Both are in view, whichever view was in front when they came.
TEST_F(WindowTest, AnErrorStandsAboveAViewsNotice) {
  window_->open_document(lenet());
  settle();
  View* const timeline = window_->view("timeline");
  window_->bring_to_front(window_->view("memory"));
  timeline->notify("a notice");
  window_->show_error("something is wrong");
  window_->bring_to_front(timeline);
  QTest::qWait(20);
  const auto* error = window_->findChild<QWidget*>("error");
  const int end = timeline->mapTo(window_.get(), QPoint(0, timeline->height())).y();
  EXPECT_GT(timeline->covered_height(), timeline->foot_height());
  EXPECT_LE(error->geometry().bottom(), end - timeline->covered_height());
  const QPoint middle = error->geometry().center();
  EXPECT_TRUE(error->isAncestorOf(window_->childAt(middle)) || window_->childAt(middle) == error)
      << "nothing covers it";
}

// However often it is closed and opened again.
TEST_F(WindowTest, TheDocksStayWhereTheyWere) {
  std::vector<int> tops;
  window_->showMaximized();
  window_->open_document(lenet());
  settle();
  for (int start = 0; start < 4; ++start) {
    QCoreApplication::processEvents();
    tops.push_back(window_->view("timeline")->mapTo(window_.get(), QPoint()).y());
    close_window();
    make_window();
    QCoreApplication::processEvents();
    click("go_on");
    settle();
  }
  EXPECT_THAT(tops, ::testing::Each(tops.front()));
}

TEST_F(WindowTest, AnErrorLeavesTheFootOfTheViewsInView) {
  window_->open_document(lenet());
  settle();
  View* const timeline = window_->view("timeline");
  window_->bring_to_front(timeline);
  QCoreApplication::processEvents();
  window_->show_error("something is wrong");
  const QPoint end = timeline->mapTo(window_.get(), QPoint(0, timeline->height()));
  EXPECT_GT(timeline->foot_height(), 0);
  EXPECT_LE(window_->findChild<QWidget*>("error")->geometry().bottom(),
            end.y() - timeline->foot_height());
}

}  // namespace
}  // namespace strata::gui
