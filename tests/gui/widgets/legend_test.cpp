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

}  // namespace
}  // namespace strata::gui
