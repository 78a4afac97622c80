// Numbers as the views write them.

#include "gui/models/text.h"

#include <gtest/gtest.h>

namespace strata::gui {
namespace {

using Texts = std::pair<QString, QString>;

TEST(Text, TellsTwoTimesApart) {
  EXPECT_EQ(seconds_apart({0.3852}, {0.3861}), Texts("385 ms", "386 ms"));
  EXPECT_EQ(seconds_apart({0.38511}, {0.38524}), Texts("385.1 ms", "385.2 ms"));
  EXPECT_EQ(seconds_apart({1}, {1.0000001}), Texts("1 s", "1.0000001 s"));
  EXPECT_EQ(seconds_apart({2.5e-6}, {2.5e-6}),
            Texts(QString::fromUtf8("2.5 µs"), QString::fromUtf8("2.5 µs")));
}

}  // namespace
}  // namespace strata::gui
