// The ruler's labels are whole, and names leave room for what they name.

#include "gui/widgets/time_ruler.h"

#include <QApplication>
#include <QImage>

#include <gtest/gtest.h>

namespace strata::gui {
namespace {

QImage ruler(double seconds, int width) {
  QImage image(width, 26, QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  paint_time_ruler(painter, image.rect(), TimeWindow(seconds), {}, QApplication::palette());
  return image;
}

bool is_empty(const QImage& image, const QRect& part) {
  for (int x = part.left(); x <= part.right(); ++x) {
    for (int y = part.top(); y <= part.bottom(); ++y) {
      if (image.pixel(x, y) != qRgb(255, 255, 255)) return false;
    }
  }
  return true;
}

// Its last tick, at a second, is 2 pixels from the edge: a label left of it would be the tick's
// before it, and one that was cut off would reach the edge.
TEST(TimeRulerTest, NoLabelIsCutOff) {
  const QImage image = ruler(1.005, 400);
  EXPECT_TRUE(is_empty(image, QRect(399, 0, 1, 20)));
  EXPECT_TRUE(is_empty(image, QRect(364, 0, 30, 14)));
}

TEST(TimeRulerTest, NamesTakeAPartOfTheWhole) {
  EXPECT_EQ(names_width(200, 1200), 200);
  EXPECT_LT(names_width(200, 640), 200);
  EXPECT_GT(names_width(200, 100), 0);
  EXPECT_EQ(names_width(10, 1200), names_width(0, 1200));
}

}  // namespace
}  // namespace strata::gui
