#include "sim/text/near_names.h"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace strata {
namespace {

using Names = std::vector<std::string_view>;

Names near(std::string_view name, const Names& known) {
  return near_names(name, known);
}

TEST(NearNames, AThirdOfTheLettersMayDiffer) {
  // Six letters: two may be others, missing or too many.
  EXPECT_EQ(near("vgg-16", {"vgg16", "vgg19", "resnet"}), (Names{"vgg16", "vgg19"}));
  EXPECT_EQ(near("resnet", {"densenet", "resnext", "lenet"}), (Names{"resnext", "lenet"}));
  EXPECT_EQ(near("abcdef", {"abczzz"}), Names{});
  EXPECT_EQ(near("gpt", {"gpt2", "gpt-x", "opt"}), (Names{"gpt2", "opt"}));
}

TEST(NearNames, TheNearestComeFirst) {
  EXPECT_EQ(near("aaaaaa", {"aaaabb", "aaaaab"}), (Names{"aaaaab", "aaaabb"}));
  // Equally far: "qwen2" is how the first of them begins.
  EXPECT_EQ(near("qwen2-7b", {"qwen3-4b", "qwen2.5-7b"}), (Names{"qwen2.5-7b", "qwen3-4b"}));
  EXPECT_EQ(near("aaab", {"aaac", "aaad", "aaae", "aaaf"}), (Names{"aaac", "aaad", "aaae"}));
}

TEST(NearNames, NothingIsNearToNothing) {
  EXPECT_EQ(near("", {"a", "ab"}), Names{});
  EXPECT_EQ(near("a", {"b"}), Names{}) << "all of it would be another";
}

}  // namespace
}  // namespace strata
