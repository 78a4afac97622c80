// What is under the mouse stays there while wheels and keys enlarge a picture.

#include "gui/widgets/navigation.h"

#include <gtest/gtest.h>

namespace strata::gui {
namespace {

QWheelEvent wheel(int turned, Qt::KeyboardModifiers modifiers) {
  return {{30, 40}, {30, 40}, {}, {0, turned}, Qt::NoButton, modifiers, Qt::NoScrollPhase, false};
}

// A sheet of 100 by 50 in a room of 200 by 200: twice as large, and 50 below the top.
TEST(SheetView, FitsASheetIntoARoom) {
  SheetView view({0.1, 10, 2.5});
  view.fit({0, 0, 100, 50}, {0, 0, 200, 200});
  EXPECT_EQ(view.scale(), 2);
  EXPECT_EQ(view.to_widget(QPointF(0, 0)), QPointF(0, 50));
  EXPECT_EQ(view.to_widget(QRectF(0, 0, 100, 50)), QRectF(0, 50, 200, 100));
  view.fit({0, 0, 10, 5}, {0, 0, 200, 200});
  EXPECT_EQ(view.scale(), 2.5);
  EXPECT_TRUE(view.fitted());
}

TEST(SheetView, EnlargesAboutAPoint) {
  SheetView view({0.1, 10, 2.5});
  const QPointF there(30, 40), under = view.to_sheet(there);
  view.take_wheel(wheel(120, Qt::ControlModifier));
  EXPECT_GT(view.scale(), 1);
  EXPECT_NEAR(view.to_sheet(there).x(), under.x(), 1e-9);
  EXPECT_NEAR(view.to_sheet(there).y(), under.y(), 1e-9);
  EXPECT_FALSE(view.fitted());
  const double enlarged = view.scale();
  view.take_wheel(wheel(120, Qt::NoModifier), true);
  EXPECT_GT(view.scale(), enlarged);
  EXPECT_TRUE(view.take_key(Qt::Key_Minus, there));
  EXPECT_FALSE(view.take_key(Qt::Key_A, there));
  view.zoom(1e9, there);
  EXPECT_EQ(view.scale(), 10);
}

TEST(SheetView, Scrolls) {
  SheetView view({0.1, 10, 2.5});
  view.take_wheel(wheel(120, Qt::NoModifier));
  EXPECT_EQ(view.offset(), QPointF(0, 60));
  view.take_wheel(wheel(-120, Qt::ShiftModifier));
  EXPECT_EQ(view.offset(), QPointF(-60, 60));
  EXPECT_EQ(view.scale(), 1);
}

// Of ten seconds: a notch shows 8, of which the time that was fixed stays at its place.
TEST(TimeNavigation, ZoomsPansAndScrolls) {
  TimeWindow window(10);
  QScrollBar bar;
  bar.setRange(0, 100);
  bar.setValue(50);
  take_wheel(window, wheel(120, Qt::ControlModifier), 5, bar);
  EXPECT_NEAR(window.begin(), 1, 1e-9);
  EXPECT_NEAR(window.end(), 9, 1e-9);
  take_wheel(window, wheel(120, Qt::ShiftModifier), 5, bar);
  EXPECT_NEAR(window.begin(), 0.4, 1e-9);
  EXPECT_EQ(bar.value(), 50);
  const TimeWindow before = window;
  take_wheel(window, wheel(-120, Qt::NoModifier), 5, bar);
  EXPECT_EQ(window, before);
  EXPECT_EQ(bar.value(), 50 + 3 * bar.singleStep());
  EXPECT_TRUE(take_key(window, Qt::Key_S, 5));
  EXPECT_TRUE(window.shows_all());
  EXPECT_FALSE(take_key(window, Qt::Key_F, 5));
}

}  // namespace
}  // namespace strata::gui
