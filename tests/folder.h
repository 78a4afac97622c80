#pragma once

// A folder that a test fills, gone when the test is over.

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace strata::testing {

class Folder {
 public:
  /// No other test's, though tests run side by side.
  explicit Folder(const std::string& name)
      : path_(::testing::TempDir() + "strata_" + name + "_XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no folder for a test");
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
