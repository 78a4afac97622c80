// The window's docks and bars: which view is the active one, the usual layout, what errors cover.

#include <QTabBar>

#include <gmock/gmock.h>

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

TEST_F(WindowTest, AnErrorLeavesAViewsNoticeInView) {
  window_->open_document(lenet());
  settle();
  View* const timeline = window_->view("timeline");
  window_->bring_to_front(timeline);
  QCoreApplication::processEvents();
  window_->show_error("something is wrong");
  timeline->notify("and something is to be known");
  QCoreApplication::processEvents();
  const QPoint end = timeline->mapTo(window_.get(), QPoint(0, timeline->height()));
  EXPECT_GT(timeline->covered_height(), timeline->foot_height());
  EXPECT_LE(window_->findChild<QWidget*>("error")->geometry().bottom(),
            end.y() - timeline->covered_height());
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
