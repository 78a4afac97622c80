// How many tokens experts have, in words and in files.

#include "sim/case/expert_load_text.h"

#include <fstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/case/framework.h"
#include "sim/case/predict.h"
#include "tests/folder.h"

namespace strata {
namespace {

std::string error(const std::string& text) {
  try {
    read_expert_load(text);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(ExpertLoadText, IsInWordsOrInAFile) {
  EXPECT_TRUE(std::holds_alternative<BalancedLoad>(read_expert_load("balanced")));
  EXPECT_EQ(std::get<ZipfLoad>(read_expert_load("zipf:1.2")).exponent, 1.2);
  const testing::Folder folder("loads");
  const std::string file = folder.file("counts.txt");
  std::ofstream(file) << "# tokens\n30, 10\n  20 1e18 # of experts 2 and 3\n";
  EXPECT_EQ(std::get<CountedLoad>(read_expert_load(file)).tokens,
            (std::vector<double>{30, 10, 20, 1e18}));
}

TEST(ExpertLoadText, SaysWhatIsExpected) {
  EXPECT_EQ(error("zip"),
            "'zip' is not a load of experts; expected balanced, zipf:S or a file of counts");
  EXPECT_EQ(error("zipf:-1"),
            "'zipf:-1' is not a load of experts; expected zipf:S with S from 0 to 10");
  const testing::Folder folder("loads");
  const std::string file = folder.file("counts.txt");
  for (const char* const wrong : {"x", "-1", "1e308", "2e18"}) {
    std::ofstream(file) << "1 2\n3 " << wrong;
    EXPECT_EQ(error(file), file + ":2: '" + wrong +
                               "' is not a count of tokens; expected a number from 0 to 1e+18");
  }
}

TEST(ExpertLoadText, IsSeenFromTheFolderOfItsFile) {
  EXPECT_EQ(seen_from("a/b", "experts.load", "counts.txt"), "a/b/counts.txt");
  EXPECT_EQ(seen_from("a/b", "experts.load", "/c/counts.txt"), "/c/counts.txt");
  EXPECT_EQ(seen_from("", "experts.load", "counts.txt"), "counts.txt");
  EXPECT_EQ(seen_from("a/b", "experts.load", "zipf:1"), "zipf:1");
  EXPECT_EQ(seen_from("a/b", "experts.dispatch", "alltoall"), "alltoall");
}

// A framework names files as they are seen from its own.
TEST(ExpertLoadText, OfAFrameworkIsBesideItsFile) {
  const testing::Folder folder("loads");
  std::ofstream(folder.file("counts.txt")) << "3 1 2 2";
  const std::string file = folder.file("ours.toml");
  std::ofstream(file) << "name = \"ours\"\n[set]\n\"experts.load\" = \"counts.txt\"\n";
  CaseRequest request;
  request.model = "llama:layers=1,hidden=64,heads=4,seq=16,vocab=100,experts=4";
  request.cluster = "a100-1x2";
  request.framework = file;
  const Case input = load_case(request);
  const Layer& layer = input.graph[input.graph.find("block1_ffn_dispatch")];
  EXPECT_EQ(layer.routing.load, (std::vector<double>{1.5, 0.5, 1, 1}));
  std::ofstream(folder.file("counts.txt")) << "3 1 2";
  EXPECT_THAT(
      [&] { load_case(request); },
      ::testing::ThrowsMessage<InputError>(::testing::HasSubstr(
          folder.file("counts.txt") + ": there are 3 counts; expected one for each of 4 experts")));
}

}  // namespace
}  // namespace strata
