#include "exec/cuda/device/library.h"

#include <algorithm>
#include <cstdlib>

#include <dlfcn.h>
#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata::cuda {
namespace {

constexpr const char* kVariable = "STRATA_CUDA_LIBRARIES";
constexpr const char* kToolkit = "/usr/local/cuda/lib64";

// Libraries that it needs itself are found by the same path or by its own. It stays when it is
// closed: they are large, and have threads of their own.
void* open(const std::string& path) {
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

std::string last_words() {
  const char* words = dlerror();
  return words == nullptr ? "no reason given" : words;
}

// A file that is there and can't be loaded says more than one that is nowhere.
bool is_missing(const std::string& reason) {
  return reason.find("No such file") != std::string::npos;
}

std::string looked_in(const std::vector<std::string>& folders) {
  std::string text = "the loader's path";
  for (const std::string& folder : folders) text += ", " + folder;
  return text;
}

}  // namespace

std::string version_text(int number) {
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

std::vector<std::string> library_folders() {
  std::vector<std::string> folders;
  const char* named = std::getenv(kVariable);
  std::string_view rest = named == nullptr ? "" : named;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  folders.emplace_back(kToolkit);
  return folders;
}

Library::Library(std::string_view name, const std::vector<std::string>& folders) : name_(name) {
  handle_ = open(name_);
  std::string reason = handle_ == nullptr ? last_words() : "";
  for (const std::string& folder : folders) {
    if (handle_ != nullptr) return;
    handle_ = open(folder + "/" + name_);
    if (handle_ != nullptr) return;
    const std::string words = last_words();
    if (is_missing(reason) && !is_missing(words)) reason = words;
  }
  if (handle_ != nullptr) return;
  const std::string hint = fmt::format("name its folder in {}", kVariable);
  throw EnvironmentError(is_missing(reason) ? fmt::format("{} was not found in {}; {}", name_,
                                                          looked_in(folders), hint)
                                            : fmt::format("{} can't be loaded: {}", name_, reason));
}

Library::~Library() {
  if (handle_ != nullptr) dlclose(handle_);
}

FoundFunction Library::find(const char* function) const {
  if (void* found = dlsym(handle_, function)) return FoundFunction(found);
  throw EnvironmentError(fmt::format("{} has no function {}", name_, function));
}

}  // namespace strata::cuda
