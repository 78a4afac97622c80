// A legend takes as many lines as its width asks for.

#include "gui/widgets/legend.h"

#include <gtest/gtest.h>

namespace strata::gui {
namespace {

LegendEntry entry(const QString& text) {
  return {text, [](const Theme& theme) { return theme.accent; }};
}

TEST(LegendTest, WrapsWhereItIsNarrow) {
  const Legend legend({entry("one"), entry("two"), entry("three")});
  const int line = legend.heightForWidth(legend.sizeHint().width());
  EXPECT_EQ(legend.heightForWidth(legend.sizeHint().width() - 1), 2 * line);
  EXPECT_EQ(legend.heightForWidth(legend.minimumSizeHint().width()), 3 * line);
  EXPECT_EQ(legend.heightForWidth(1), 3 * line);
  EXPECT_EQ(Legend({}).heightForWidth(100), 0);
}

// A square of 11 pixels from the eighth on, and of the next, which has no room, nothing.
TEST(LegendTest, ALineLeavesOutWhatHasNoRoom) {
  QImage image(60, 20, QImage::Format_RGB32);
  image.fill(Qt::black);
  QPainter painter(&image);
  Theme theme;
  theme.background = theme.text = Qt::white;
  LegendLine line(painter, QRectF(image.rect()), theme);
  line.square(Qt::red, {});
  line.square(Qt::green, QString(40, 'x'));
  line.square(Qt::blue, {});
  painter.end();
  EXPECT_EQ(image.pixelColor(10, 10), QColor(Qt::red));
  for (int x = 20; x < 60; ++x) EXPECT_EQ(image.pixelColor(x, 10), QColor(Qt::white)) << x;
}

}  // namespace
}  // namespace strata::gui
