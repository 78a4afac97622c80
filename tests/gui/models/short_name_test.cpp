// What names that stand beside each other share gives way first.

#include "gui/models/short_name.h"

#include <gmock/gmock.h>

namespace strata::gui {
namespace {

using ::testing::ElementsAre;

std::string shortened_to(std::size_t letters, const std::string& name, std::size_t shared) {
  const auto fits = [&](const QString& text) {
    return static_cast<std::size_t>(text.size()) <= letters;
  };
  return shortened(QString::fromStdString(name), shared, fits).toStdString();
}

TEST(ShortName, SharesWholeParts) {
  EXPECT_EQ(shared_prefix("mixed_6a/conv", "mixed_6a/pool"), 9u);
  EXPECT_EQ(shared_prefix("mixed_6a/conv", "mixed_6b/conv"), 6u);
  EXPECT_EQ(shared_prefix("layer1.block.conv", "layer1.block.convs"), 13u);
  EXPECT_EQ(shared_prefix("conv", "conv"), 0u);
  EXPECT_EQ(shared_prefix("", "conv"), 0u);
  EXPECT_EQ(shared_prefix("features_0", "features_2"), 0u) << "a number needs its word";
  EXPECT_EQ(shared_prefix("encoder_1_mlp", "encoder_1_norm"), 10u);
  EXPECT_EQ(shared_prefix("encoder_1_mlp", "encoder_2_mlp"), 0u);
  EXPECT_EQ(shared_prefix("a_conv, 4.96 ms", "a_conv, 4.12 ms"), 2u);
}

// The first of a block is alone with what is before it.
TEST(ShortName, IsSharedWithANeighbour) {
  const std::vector<std::string> names = {"stem", "mixed_a/b1/conv", "mixed_a/b1/bn",
                                          "mixed_a/b2/conv", "mixed_a/b2/bn"};
  EXPECT_THAT(shared_prefixes(names), ElementsAre(0u, 11u, 11u, 11u, 11u));
  EXPECT_THAT(shared_prefixes({"alone"}), ElementsAre(0u));
  EXPECT_TRUE(shared_prefixes({}).empty());
}

TEST(ShortName, DropsNoMorePartsThanItTakes) {
  const std::string name = "inception_4a/branch_pool/conv";
  EXPECT_EQ(shortened_to(29, name, 25), name);
  EXPECT_EQ(shortened_to(28, name, 25), "…4a/branch_pool/conv");
  EXPECT_EQ(shortened_to(17, name, 25), "…branch_pool/conv");
  EXPECT_EQ(shortened_to(16, name, 25), "…pool/conv");
  EXPECT_EQ(shortened_to(5, name, 25), "…conv");
  EXPECT_EQ(shortened_to(5, name, 13), "…branch_pool/conv") << "what differs stays";
  EXPECT_EQ(shortened_to(5, name, 0), name);
  EXPECT_EQ(shortened_to(8, "branch_3x3_1_conv", 13), "…1_conv");
}

// Of a block among its like.
TEST(ShortName, KeepsTheLastNumberThatIsShared) {
  EXPECT_EQ(shortened_to(12, "blocks_3_attention_norm", 19), "…3…norm");
  EXPECT_EQ(shortened_to(6, "blocks_3_attention_norm", 19), "…norm") << "there is no room for it";
  EXPECT_EQ(shortened_to(20, "blocks_3_attention_norm", 19), "…3_attention_norm");
}

}  // namespace
}  // namespace strata::gui
