// The file of tuned choices: what it keeps, and that a damaged one counts for nothing.

#include "exec/cuda/products/choice_file.h"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "sim/text/file.h"

namespace strata::cuda {
namespace {

class Choices : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string path_ = (folder_ / "cache" / "plans.txt").string();
};

TEST_F(Choices, OutliveTheProgram) {
  ChoiceFile(path_).add("forward 3x3", "67 2=1");
  ChoiceFile(path_).add("data 3x3", "71 2=4");
  EXPECT_EQ(read_file(path_), "forward 3x3\t67 2=1\ndata 3x3\t71 2=4\n");
  EXPECT_EQ(ChoiceFile(path_).find("forward 3x3"), "67 2=1");
  EXPECT_EQ(ChoiceFile(path_).find("weights 3x3"), "");
}

TEST_F(Choices, OfTwoProgramsAreBothKept) {
  ChoiceFile one(path_), other(path_);
  one.add("a", "1");
  other.add("b", "2");
  EXPECT_EQ(one.find("b"), "2");
  EXPECT_EQ(ChoiceFile(path_).find("a"), "1");
  EXPECT_EQ(ChoiceFile(path_).find("b"), "2");
}

// Programs that tune at the same time agree from then on; until then each keeps to its own.
TEST_F(Choices, OfOneKeyTheLastCounts) {
  ChoiceFile one(path_), other(path_);
  one.add("a", "1");
  other.add("a", "2");
  EXPECT_EQ(ChoiceFile(path_).find("a"), "2");
  EXPECT_EQ(one.find("b"), "");
  EXPECT_EQ(one.find("a"), "1");
}

TEST_F(Choices, OfNoUseAreReplaced) {
  ChoiceFile(path_).add("a", "of no use");
  ChoiceFile file(path_);
  EXPECT_EQ(file.find("a"), "of no use");
  file.add("a", "1");
  EXPECT_EQ(ChoiceFile(path_).find("a"), "1");
}

TEST_F(Choices, OfDamagedLinesAreIgnored) {
  std::filesystem::create_directories(folder_ / "cache");
  write_file_whole(path_, "nonsense\n\n\t1\na\t\na\t1\t2\nb\t7\na\t1");
  ChoiceFile file(path_);
  EXPECT_EQ(file.find("a"), "");
  EXPECT_EQ(file.find("b"), "7");
}

TEST_F(Choices, OfALineThatIsBeingWrittenAreReadLater) {
  std::filesystem::create_directories(folder_ / "cache");
  write_file_whole(path_, "a\t1\nb\t2");
  ChoiceFile file(path_);
  EXPECT_EQ(file.find("b"), "");
  write_file_whole(path_, "a\t1\nb\t23\n");
  EXPECT_EQ(file.find("b"), "23");
}

TEST_F(Choices, StayInMemoryWhereNothingCanBeWritten) {
  std::filesystem::create_directories(folder_);
  write_file_whole((folder_ / "cache").string(), "a file where a folder should be");
  ChoiceFile file(path_);
  file.add("a", "1");
  EXPECT_EQ(file.find("a"), "1");
}

TEST_F(Choices, LieInTheCacheFolder) {
  setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(ChoiceFile::usual_path(), "/cache/strata/cudnn-plans.tsv");
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/me", 1);
  EXPECT_EQ(ChoiceFile::usual_path(), "/me/.cache/strata/cudnn-plans.tsv");
}

}  // namespace
}  // namespace strata::cuda
