#include "exec/cuda/products/choice_file.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "sim/base/error.h"
#include "sim/text/file.h"
#include "sim/text/split.h"

namespace strata::cuda {
namespace {

namespace fs = std::filesystem;
using Choices = std::map<std::string, std::string>;

constexpr std::string_view kTitle = "strata cudnn plans, version 1";
constexpr std::string_view kEnd = "end";
constexpr std::int64_t kMostBytes = std::int64_t{16} << 20U;

/// Whole or not at all: its last line says that nothing was cut off.
Choices parse(std::string_view text) {
  const std::vector<std::string_view> lines = split(text, '\n');
  if (lines.size() < 3 || lines.front() != kTitle || lines[lines.size() - 2] != kEnd) return {};
  Choices choices;
  for (std::size_t i = 1; i + 2 < lines.size(); ++i) {
    const std::vector<std::string_view> parts = split(lines[i], '\t');
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) return {};
    choices.insert_or_assign(std::string(parts[0]), std::string(parts[1]));
  }
  return choices;
}

std::string print(const Choices& choices) {
  std::string text = std::string(kTitle) + "\n";
  for (const auto& [key, choice] : choices) text += key + "\t" + choice + "\n";
  return text + std::string(kEnd) + "\n";
}

Choices read(const std::string& path) {
  std::error_code unknown;
  if (path.empty() || !fs::exists(path, unknown)) return {};
  try {
    return parse(read_file(path, kMostBytes));
  } catch (const Error&) {  // a hint that can't be read is none
    return {};
  }
}

std::string folder_of(const char* variable) {
  const char* folder = std::getenv(variable);
  return folder != nullptr && folder[0] == '/' ? folder : "";
}

}  // namespace

std::string ChoiceFile::usual_path() {
  std::string folder = folder_of("XDG_CACHE_HOME");
  if (folder.empty() && !folder_of("HOME").empty()) folder = folder_of("HOME") + "/.cache";
  return folder.empty() ? "" : folder + "/strata/cudnn-plans.txt";
}

ChoiceFile::ChoiceFile(std::string path) : path_(std::move(path)), choices_(read(path_)) {}

std::string ChoiceFile::find(const std::string& key) {
  if (!choices_.contains(key)) choices_.merge(read(path_));
  const auto it = choices_.find(key);
  return it == choices_.end() ? "" : it->second;
}

void ChoiceFile::add(const std::string& key, const std::string& choice) {
  choices_.insert_or_assign(key, choice);
  if (path_.empty()) return;
  Choices all = read(path_);
  all.insert_or_assign(key, choice);
  try {
    fs::create_directories(fs::path(path_).parent_path());
    write_file_whole(path_, print(all));
  } catch (const std::exception&) {  // then the next program tunes once more
  }
}

}  // namespace strata::cuda
