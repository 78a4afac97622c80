#pragma once

// A folder that a test fills, gone when the test is over.

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace strata::testing {

class Folder {
 public:
  explicit Folder(const std::string& name) : path_(::testing::TempDir() + "strata_" + name) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace strata::testing
