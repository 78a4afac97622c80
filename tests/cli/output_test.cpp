#include "cli/output/output.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

// A name in a file may hold what moves a terminal's cursor or changes its colours.
TEST(Printable, HasNoControlCharacters) {
  EXPECT_EQ(printable("layer \x1b[31mred"), "layer \\u001b[31mred");
  EXPECT_EQ(printable("a\rb\x7f\xc2\x9b"), "a\\u000db\\u007f\\u009b");
  EXPECT_EQ(printable("\x1b\x1b"), "\\u001b\\u001b");
}

TEST(Printable, KeepsAllOtherText) {
  for (const char* text :
       {"", "a table\n\tof größe, 模型\n", "\xc2\xa0", "\xff no UTF-8", "\xc2"}) {
    EXPECT_EQ(printable(text), text);
  }
}

}  // namespace
}  // namespace strata
