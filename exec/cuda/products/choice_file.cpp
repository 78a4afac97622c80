#include "exec/cuda/products/choice_file.h"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "sim/text/folder.h"
#include "sim/text/split.h"

namespace strata::cuda {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::string ChoiceFile::usual_path() {
  const std::string folder = cache_folder();
  return folder.empty() ? "" : folder + "/cudnn-plans.tsv";
}

ChoiceFile::ChoiceFile(std::string path) : path_(std::move(path)) {}

std::string ChoiceFile::find(const std::string& key) {
  if (!choices_.contains(key)) read_on();
  const auto it = choices_.find(key);
  return it == choices_.end() ? "" : it->second;
}

// What was added since, by anybody; a last line without its end is still being written. What is
// known already stays: a program keeps to its choices.
void ChoiceFile::read_on() {
  std::ifstream file(path_, std::ios::binary);
  file.seekg(read_);
  std::map<std::string, std::string> added;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    read_ += static_cast<std::int64_t>(line.size()) + 1;
    const std::vector<std::string_view> parts = split(line, '\t');
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) continue;
    added.insert_or_assign(std::string(parts[0]), std::string(parts[1]));
  }
  choices_.merge(added);
}

// In one piece, at the end, wherever that is by then. Where it fails, the next program tunes again.
void ChoiceFile::add(const std::string& key, const std::string& choice) {
  choices_.insert_or_assign(key, choice);
  if (path_.empty()) return;
  std::error_code ignored;
  fs::create_directories(fs::path(path_).parent_path(), ignored);
  const std::string line = key + "\t" + choice + "\n";
  std::ofstream(path_, std::ios::binary | std::ios::app) << line << std::flush;
}

}  // namespace strata::cuda
