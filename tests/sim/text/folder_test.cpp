#include "sim/text/folder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "sim/text/file.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    std::string pattern = testing::TempDir() + "strata_folder_XXXXXX";
    root_ = ::mkdtemp(pattern.data());
  }
  ~FolderTest() override { std::filesystem::remove_all(root_); }

  std::string path(const std::string& name) const { return root_ + "/" + name; }
  std::vector<std::string> all() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
      names.push_back(entry.path().string().substr(root_.size() + 1));
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  struct stat status(const std::string& name) const {
    struct stat found {};
    EXPECT_EQ(::stat(path(name).c_str(), &found), 0);
    return found;
  }
  template <class Action>
  static std::string failed_by(const Action& action) {
    try {
      action();
    } catch (const EnvironmentError& error) {
      return error.message();
    }
    return "";
  }
  static std::string failed(const std::string& folder, const std::vector<NamedContent>& files) {
    return failed_by([&] { write_folder_whole(folder, files); });
  }

  std::string root_;
  std::vector<NamedContent> files_ = {{"a", "1"}, {"b", "2"}};
  std::vector<std::string> whole_ = {"out", "out/a", "out/b"};
};

TEST_F(FolderTest, IsNewWithItsFiles) {
  write_folder_whole(path("out/"), files_);
  EXPECT_EQ(all(), whole_);
  EXPECT_EQ(read_file(path("out/b")), "2");
}

// Whoever stands in it sees the files; a private one does not open, nor a group's lose its group.
TEST_F(FolderTest, IsTheEmptyOneThatWasThere) {
  std::filesystem::create_directory(path("out"));
  ASSERT_EQ(::chmod(path("out").c_str(), 02700), 0);
  const struct stat before = status("out");
  check_can_write_folder(path("out"));
  write_folder_whole(path("out"), files_);
  EXPECT_EQ(status("out").st_ino, before.st_ino);
  EXPECT_EQ(status("out").st_mode, before.st_mode);
  EXPECT_EQ(all(), whole_);
  EXPECT_EQ(read_file(path("out/a")), "1");
}

// The second "a" is not there any more when its turn comes.
TEST_F(FolderTest, IsEmptyAgainWhereAFileCannotHaveItsName) {
  std::filesystem::create_directory(path("out"));
  EXPECT_EQ(failed(path("out"), {{"b", "0"}, {"a", "1"}, {"a", "2"}}),
            path("out") + ": cannot be written: No such file or directory");
  EXPECT_NE(failed(path("out"), {{"a", "1"}, {"no/b", "2"}}), "");
  EXPECT_EQ(all(), std::vector<std::string>{"out"});
}

TEST_F(FolderTest, IsTheOneThatALinkNames) {
  std::filesystem::create_directory(path("out"));
  std::filesystem::create_symlink("out", path("link"));
  write_folder_whole(path("link"), files_);
  EXPECT_EQ(read_file(path("out/a")), "1");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
}

TEST_F(FolderTest, KeepsWhatIsThere) {
  write_folder_whole(path("out"), files_);
  const std::string wrong =
      path("out") + ": is there and not empty; allowed: a new folder or an empty one";
  EXPECT_EQ(said([&] { write_folder_whole(path("out"), {{"c", ""}}); }), wrong);
  EXPECT_EQ(said([&] { check_can_write_folder(path("out")); }), wrong);
  EXPECT_EQ(all(), whole_);
}

TEST_F(FolderTest, LeavesNothingBehindWhereItCannotBeWritten) {
  EXPECT_EQ(failed(path("none/out"), files_),
            path("none/out") + ": cannot be written: No such file or directory");
  EXPECT_NE(failed(path("out"), {{"a", "1"}, {"no/b", "2"}}), "");
  EXPECT_EQ(all(), std::vector<std::string>{});
  write_file_whole(path("file"), "");
  EXPECT_EQ(failed(path("file"), files_), path("file") + ": cannot be written: Not a directory");
  check_can_write_folder(path("out"));
  EXPECT_EQ(all(), std::vector<std::string>{"file"});
}

TEST_F(FolderTest, TakesFilesBesideOthersAllOrNone) {
  std::filesystem::create_directory(path("r"));
  write_file_whole(path("r/kept"), "kept");
  write_file_whole(path("r/a"), "old");
  write_into_folder(path("r"), {{"a", "new"}, {"b", "new"}});
  EXPECT_EQ(all(), (std::vector<std::string>{"r", "r/a", "r/b", "r/kept"}));
  EXPECT_EQ(read_file(path("r/a")), "new");
  EXPECT_EQ(read_file(path("r/kept")), "kept");

  std::filesystem::create_directory(path("r/c"));
  EXPECT_EQ(failed_by([&] {
              write_into_folder(path("r"), {{"a", "newer"}, {"c", "newer"}});
            }),
            path("r/c") + ": cannot be written: Is a directory");
  EXPECT_EQ(read_file(path("r/a")), "new");
}

// The name that the file will have, not that of the folder it is made in.
TEST_F(FolderTest, NamesTheFileThatCannotBeWritten) {
  const std::string longest(255, 'n');
  EXPECT_EQ(failed(path("f"), {{longest + "n", ""}}),
            path("f/") + longest + "n: cannot be written: File name too long");
  EXPECT_EQ(failed(path("f"), {{longest, ""}}), "");
}

TEST(CacheFolder, FollowsTheEnvironment) {
  const auto with = [](const char* cache, const char* home) {
    cache == nullptr ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", cache, 1);
    home == nullptr ? unsetenv("HOME") : setenv("HOME", home, 1);
    return cache_folder();
  };
  EXPECT_EQ(with("/c", "/h"), "/c/strata");
  EXPECT_EQ(with(nullptr, "/h"), "/h/.cache/strata");
  EXPECT_EQ(with("", "/h"), "/h/.cache/strata");
  EXPECT_EQ(with("relative", "/h"), "/h/.cache/strata");
  EXPECT_EQ(with(nullptr, nullptr), "");
}

}  // namespace
}  // namespace strata
