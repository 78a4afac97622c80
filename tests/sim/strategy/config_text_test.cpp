// Cuts as people read them, in the words of the layers that have them.

#include "sim/strategy/config_text.h"

#include <gmock/gmock.h>

#include "sim/graph/zoo.h"
#include "sim/strategy/hybrid.h"

namespace strata {
namespace {

TEST(ConfigText, OfASequenceNamesTokensAndHeads) {
  const Graph gpt = build_zoo("gpt:layers=2,hidden=32,heads=4,seq=16,vocab=64", 8);
  const Strategy cuts = hybrid_parallel(gpt, 8, "hybrid:tp=4,sp=1");
  const auto text = [&](const char* name) {
    const LayerId layer = gpt.find(name);
    return config_text(gpt, std::span(&layer, 1), cuts[layer]);
  };
  EXPECT_EQ(text("block1_attention"), "n=2 heads=4");
  EXPECT_EQ(text("block1_query"), "n=2 c=4");
  EXPECT_EQ(text("block1_ffn_norm"), "n=2 tokens=4");
  EXPECT_EQ(dim_words(gpt, gpt.find("norm"), Dim::w).parts, "tokens");
}

TEST(ConfigText, OfPicturesHasLetters) {
  const Graph vgg = build_zoo("vgg16", 8);
  Config config = config_on_first_devices(kWhole);
  config.degrees[Dim::c] = config.degrees[Dim::w] = 2;
  const LayerId conv = vgg.find("features_0");
  EXPECT_EQ(config_text(vgg, std::span(&conv, 1), config.degrees), "c=2 w=2");
  EXPECT_EQ(dim_words(vgg, conv, Dim::w).parts, "columns");
}

// A vision transformer's patches are cut in columns, all that follows in tokens.
TEST(ConfigText, OfSeveralLayersHasTheWordsOfMost) {
  const Graph vit =
      build_zoo("vit:layers=1,hidden=32,heads=4,ffn=64,image=32,patch=8,classes=10", 8);
  const std::vector<LayerId> layers{vit.find("patches"), vit.find("block1_query"),
                                    vit.find("block1_attention")};
  Degrees degrees = kWhole;
  degrees[Dim::w] = degrees[Dim::c] = 2;
  EXPECT_EQ(config_text(vit, layers, degrees), "c=2 tokens=2");
  EXPECT_EQ(config_text(vit, std::span(layers).first(1), degrees), "c=2 w=2");
}

TEST(ConfigText, SaysWhichDevicesUnlessTheyAreTheFirst) {
  const auto text = [](std::vector<std::size_t> numbers) {
    Degrees degrees = kWhole;
    degrees[Dim::n] = static_cast<std::int32_t>(numbers.size());
    return config_text(Config{degrees, std::vector<DeviceId>(numbers.begin(), numbers.end())});
  };
  EXPECT_EQ(text({0, 1, 2}), "n=3");
  EXPECT_EQ(text({0, 2, 1}), "n=3, placed");
  EXPECT_EQ(text({0, 2}), "n=2, placed");
  EXPECT_EQ(text({4, 5, 6}), "n=3, devices 4 to 6");
  EXPECT_EQ(text({5, 4}), "n=2, placed, devices 4 to 5");
  EXPECT_EQ(text({0}), "one device");
  EXPECT_EQ(text({3}), "one device, device 3");
}

}  // namespace
}  // namespace strata
