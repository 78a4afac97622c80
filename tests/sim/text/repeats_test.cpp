#include "sim/text/repeats.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace strata {
namespace {

// "abab" as "0:2x2": where, how long, how often.
std::string repeats(std::string_view letters, std::size_t least_times = 2) {
  const std::vector<std::size_t> keys(letters.begin(), letters.end());
  std::string text;
  for (const Repeat& repeat : find_repeats(keys, least_times)) {
    text += (text.empty() ? "" : " ") + std::to_string(repeat.first) + ":" +
            std::to_string(repeat.length) + "x" + std::to_string(repeat.times);
  }
  return text;
}

TEST(Repeats, AreFoundFromTheLeft) {
  EXPECT_EQ(repeats(""), "");
  EXPECT_EQ(repeats("abc"), "");
  EXPECT_EQ(repeats("xabcabcabcy"), "1:3x3");
  EXPECT_EQ(repeats("aaaab"), "0:1x4");
  EXPECT_EQ(repeats("ababcdcdcd"), "0:2x2 4:2x3");
  EXPECT_EQ(repeats("abababa"), "0:2x3");
}

TEST(Repeats, AreAsLongAsCanBeAndOfTheShortestBlock) {
  EXPECT_EQ(repeats("aabaab"), "0:3x2");
  EXPECT_EQ(repeats("abababab"), "0:2x4");
  EXPECT_EQ(repeats("aabaabx", 3), "");
  EXPECT_EQ(repeats("aaab", 3), "0:1x3");
}

}  // namespace
}  // namespace strata
