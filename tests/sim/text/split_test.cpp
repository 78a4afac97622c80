#include "sim/text/split.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

using Strings = std::vector<std::string>;

TEST(Split, KeepsEmptyPartsForTheReaderToRefuse) {
  EXPECT_EQ(split_at_commas("data,owt"), (Strings{"data", "owt"}));
  EXPECT_EQ(split_at_commas("data"), (Strings{"data"}));
  EXPECT_EQ(split_at_commas("a,,b,"), (Strings{"a", "", "b", ""}));
  EXPECT_EQ(split_at_commas(""), (Strings{""}));
}

TEST(Split, TakesOneSeparatorAlone) {
  EXPECT_EQ(split("1,2;3", ';'), (std::vector<std::string_view>{"1,2", "3"}));
}

}  // namespace
}  // namespace strata
