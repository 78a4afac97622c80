#include "sim/text/file.h"

#include <algorithm>
#include <filesystem>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string pattern = testing::TempDir() + "strata_file_XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FileTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string folder_;
};

template <class Action>
std::string refused_by(Action&& action) {
  try {
    action();
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(error.exit_code(), 3);
    return error.message();
  }
  return "";
}

std::string refused(const std::string& path) {
  return refused_by([&] { write_file_whole(path, "x"); });
}

TEST_F(FileTest, ReadsBackWhatItWrote) {
  const std::string content("a\0b\n\xff", 5);
  write_file_whole(path("a"), content);
  EXPECT_EQ(read_file(path("a")), content);
  write_file_whole(path("a"), "");
  EXPECT_EQ(read_file(path("a")), "");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(FileTest, SaysWhyItCannotRead) {
  EXPECT_EQ(said([&] { read_file(path("none")); }),
            path("none") + ": cannot be read: No such file or directory");
  EXPECT_EQ(said([&] { read_file(folder_); }), folder_ + ": cannot be read: Is a directory");
  write_file_whole(path("big"), std::string(100, 'x'));
  EXPECT_EQ(said([&] { read_file(path("big"), 99); }),
            path("big") + ": cannot be read: it is larger than 99 bytes");
  EXPECT_EQ(read_file(path("big"), 100).size(), 100U);
}

TEST_F(FileTest, LeavesNothingBehindWhereItCannotWrite) {
  EXPECT_EQ(refused(path("none/a")),
            path("none/a") + ": cannot be written: No such file or directory");
  EXPECT_EQ(refused(folder_), folder_ + ": cannot be written: Is a directory");
  EXPECT_EQ(refused("/dev/full"), "/dev/full: cannot be written: No space left on device");
  EXPECT_EQ(names(), std::vector<std::string>{});
}

TEST_F(FileTest, KnowsBeforehandWhereItCannotWrite) {
  const auto refused_beforehand = [](const std::string& file) {
    return refused_by([&] { check_can_write(file); });
  };
  write_file_whole(path("file"), "old");
  for (const std::string& name : {path("none/a"), path("file/a"), folder_}) {
    EXPECT_EQ(refused_beforehand(name), refused(name));
  }
  EXPECT_EQ(refused_beforehand("/proc/a"), refused("/proc/a"));  // root's too, but no folder for it
}

TEST_F(FileTest, TouchesNothingBeforehand) {
  write_file_whole(path("old"), "old");
  fs::create_symlink("nothing", path("link"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);  // opening it would wait for a reader
  for (const char* name : {"new", "old", "link", "pipe"}) check_can_write(path(name));
  EXPECT_EQ(names(), (std::vector<std::string>{"link", "old", "pipe"}));
  EXPECT_EQ(read_file(path("old")), "old");
}

TEST_F(FileTest, KeepsALinkALinkAndAModeAMode) {
  write_file_whole(path("target"), "old");
  ASSERT_EQ(::chmod(path("target").c_str(), 0640), 0);
  fs::create_symlink("target", path("link"));
  write_file_whole(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("target")), "new");
  EXPECT_EQ(fs::status(path("target")).permissions(), fs::perms(0640));
}

TEST_F(FileTest, WritesAndReadsAPipe) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read_file(path("pipe")); });
  write_file_whole(path("pipe"), std::string(100'000, 'x'));
  reader.join();
  EXPECT_EQ(got.size(), 100'000U);
  write_file_whole("/dev/null", "gone");
}

TEST_F(FileTest, KnowsAFileByAllItsNames) {
  const std::string file = path("a");
  EXPECT_EQ(file_behind(path("./a")), file_behind(file));
  EXPECT_NE(file_behind(path("b")), file_behind(file));
  std::filesystem::create_symlink("a", path("link"));  // to what is not there yet
  EXPECT_EQ(file_behind(path("link")), file_behind(file));
  write_file_whole(file, "now");
  EXPECT_EQ(file_behind(path("link")), file_behind(file));
}

TEST(NameFromFile, IsTheFilesUnlessItIsNotUtf8) {
  EXPECT_EQ(name_from_file("folder.d/größe.toml"), "größe");
  EXPECT_EQ(said([] { name_from_file("c\xff.toml"); }),
            "c\xff.toml: what is in it has no name but the file's, which is not UTF-8; allowed: a "
            "file whose name is, or a name in it");
}

}  // namespace
}  // namespace strata
