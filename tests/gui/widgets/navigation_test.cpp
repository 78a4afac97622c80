// What is under the mouse stays there while wheels and keys enlarge a picture.

#include "gui/widgets/navigation.h"

#include <gtest/gtest.h>

namespace strata::gui {
namespace {

QWheelEvent wheel(QPoint turned, Qt::KeyboardModifiers modifiers, QPoint pixels = {}) {
  return {{30, 40}, {30, 40}, pixels, turned, Qt::NoButton, modifiers, Qt::NoScrollPhase, false};
}

QWheelEvent wheel(int turned, Qt::KeyboardModifiers modifiers) {
  return wheel(QPoint(0, turned), modifiers);
}

// A sheet of 100 by 50 in a room of 200 by 200: twice as large, and 50 below the top.
TEST(SheetView, FitsASheetIntoARoom) {
  SheetView view(10, 2.5);
  view.show({0, 0, 100, 50}, {0, 0, 200, 200});
  EXPECT_EQ(view.scale(), 2);
  EXPECT_EQ(view.to_widget(QPointF(0, 0)), QPointF(0, 50));
  EXPECT_EQ(view.to_widget(QRectF(0, 0, 100, 50)), QRectF(0, 50, 200, 100));
  view.show({0, 0, 10, 5}, {0, 0, 200, 200});
  EXPECT_EQ(view.scale(), 2.5);
  EXPECT_TRUE(view.fitted());
}

class LargeSheet : public ::testing::Test {
 protected:
  LargeSheet() { view_.show(sheet_, room_); }
  /// What of the sheet is in the room.
  QRectF seen() const { return view_.to_widget(sheet_).intersected(room_); }

  const QRectF sheet_{0, 0, 100, 100}, room_{0, 0, 200, 200};
  SheetView view_{10, 2.5};
};

TEST_F(LargeSheet, IsEnlargedAboutAPoint) {
  const QPointF there(30, 40), under = view_.to_sheet(there);
  view_.take_wheel(wheel(120, Qt::NoModifier));
  EXPECT_GT(view_.scale(), 2);
  EXPECT_NEAR(view_.to_sheet(there).x(), under.x(), 1e-9);
  EXPECT_NEAR(view_.to_sheet(there).y(), under.y(), 1e-9);
  EXPECT_FALSE(view_.fitted());
  const double enlarged = view_.scale();
  view_.take_wheel(wheel(120, Qt::ControlModifier));
  EXPECT_GT(view_.scale(), enlarged);
  EXPECT_TRUE(view_.take_key(Qt::Key_Minus));
  EXPECT_FALSE(view_.take_key(Qt::Key_A));
  view_.zoom(1e9, there);
  EXPECT_EQ(view_.scale(), 10);
}

TEST_F(LargeSheet, IsPannedWithShift) {
  view_.take_wheel(wheel(-120, Qt::ShiftModifier));
  EXPECT_EQ(view_.offset(), QPointF(-60, 0));
  EXPECT_EQ(view_.scale(), 2);
}

// A quarter of the room is the least that is seen of it, and half of what fits the least that it is
// as large as.
TEST_F(LargeSheet, CannotBeLost) {
  view_.pan({-10000, 10000});
  EXPECT_EQ(seen(), QRectF(0, 150, 50, 50));
  view_.zoom(1e-9, {0, 0});
  EXPECT_EQ(view_.scale(), 1);
  EXPECT_EQ(seen().size(), QSizeF(50, 100));
  for (int i = 0; i < 50; ++i) {  // away from where the sheet is
    view_.zoom(1.5, {199, 1});
    EXPECT_GE(seen().width(), 50);
    EXPECT_GE(seen().height(), 50);
  }
  view_.show(sheet_, {0, 0, 1000, 1000});
  EXPECT_GE(view_.to_widget(sheet_).intersected(QRectF(0, 0, 1000, 1000)).width(), 250);
  view_.show(sheet_, {0, 0, 1000, -5});  // a window that has no room but for the legend
  view_.zoom(2, {0, 0});
  view_.pan({5, 5});
  view_.show(sheet_, room_);
  view_.fit();
  view_.pan({5, 5});
  view_.show({0, 0, 2, 2}, room_);  // all of it, where it is small
  EXPECT_TRUE(room_.contains(view_.to_widget(QRectF(0, 0, 2, 2))));
}

// Of ten seconds: a notch shows 8, of which the time that was fixed stays at its place.
TEST(TimeNavigation, ZoomsPansAndScrolls) {
  TimeWindow window(10);
  QScrollBar bar;
  bar.setRange(0, 100);
  bar.setValue(50);
  take_wheel(window, wheel(120, Qt::ControlModifier), 5, 400, &bar);
  EXPECT_NEAR(window.begin(), 1, 1e-9);
  EXPECT_NEAR(window.end(), 9, 1e-9);
  take_wheel(window, wheel(120, Qt::ShiftModifier), 5, 400, &bar);
  EXPECT_NEAR(window.begin(), 0.4, 1e-9);
  EXPECT_EQ(bar.value(), 50);
  const TimeWindow before = window;
  take_wheel(window, wheel(-120, Qt::NoModifier), 5, 400, &bar);
  EXPECT_EQ(window, before);
  EXPECT_EQ(bar.value(), 50 + 3 * bar.singleStep());
  take_wheel(window, wheel(120, Qt::NoModifier), 5, 400, nullptr);  // on the ruler
  EXPECT_NEAR(window.length(), 0.8 * before.length(), 1e-9);
  take_wheel(window, wheel(-120, Qt::NoModifier), 5, 400, nullptr);
  EXPECT_TRUE(take_key(window, Qt::Key_S, 5));
  EXPECT_TRUE(window.shows_all());
  EXPECT_FALSE(take_key(window, Qt::Key_F, 5));
}

// Two fingers on it move the time sideways and the rows up and down, by as many pixels.
TEST(TimeNavigation, FollowsATouchpad) {
  TimeWindow window(10);
  window.show(2, 6);
  QScrollBar bar;
  bar.setRange(0, 100);
  bar.setValue(50);
  take_wheel(window, wheel({-40, 8}, Qt::NoModifier, {-100, 20}), 5, 400, &bar);
  EXPECT_NEAR(window.begin(), 3, 1e-9);
  EXPECT_EQ(bar.value(), 50);
  take_wheel(window, wheel({8, -40}, Qt::NoModifier, {3, -15}), 5, 400, &bar);
  EXPECT_NEAR(window.begin(), 3, 1e-9);
  EXPECT_EQ(bar.value(), 65);
}

}  // namespace
}  // namespace strata::gui
