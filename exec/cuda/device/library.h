#pragma once

// Shared libraries found when they are first needed, so that the program starts on machines that
// have none of them. Immutable after it was found; thread-safe.

#include <string>
#include <string_view>
#include <vector>

namespace strata::cuda {

inline constexpr std::string_view kCudnn = "libcudnn.so.9";
inline constexpr std::string_view kCublas = "libcublas.so.13";
inline constexpr std::string_view kNccl = "libnccl.so.2";

/// As cuDNN and NCCL number theirs: 22809 is 2.28.9.
std::string version_text(int number);

/// Where libraries are looked for after the loader's own path: the folders of the environment
/// variable STRATA_CUDA_LIBRARIES (separated by colons), then the toolkit's.
std::vector<std::string> library_folders();

/// A function, which is used as the type that its library declares.
class FoundFunction {
 public:
  explicit FoundFunction(void* address) : address_(address) {}
  template <class Function>
  operator Function*() const {
    return reinterpret_cast<Function*>(address_);
  }

 private:
  void* address_;
};

class Library {
 public:
  /// Throws EnvironmentError that says what was looked for, and where.
  explicit Library(std::string_view name) : Library(name, library_folders()) {}
  Library(std::string_view name, const std::vector<std::string>& folders);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const std::string& name() const { return name_; }

  /// Its function of this name. Throws EnvironmentError where it has none.
  FoundFunction find(const char* function) const;

 private:
  std::string name_;
  void* handle_ = nullptr;
};

}  // namespace strata::cuda
