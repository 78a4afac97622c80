#include "cli/output/report_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/store/store.h"
#include "sim/text/file.h"
#include "sim/text/folder.h"

namespace strata {
namespace {

namespace fs = std::filesystem;

constexpr const char* kList = "report.files";
constexpr std::size_t kLongestTitle = 200;  // bytes of a file's name, of which there are 255

// "Time against memory" -> "time-against-memory".
std::string file_name(const std::string& title) {
  std::string name;
  for (char c : title) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0) {
      name += static_cast<char>(std::tolower(letter));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  name.resize(std::min(name.size(), kLongestTitle));
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "section" : name;
}

const ReportTable* table_in(const Section& section) {
  if (const auto* table = std::get_if<ReportTable>(&section.body)) return table;
  return section.data.columns.empty() ? nullptr : &section.data;
}

using Files = std::map<std::string, std::string>;  // name: content

Files tables_of(const ReportDocument& document) {
  Files files;
  for (std::size_t i = 0; i < document.sections.size(); ++i) {
    const Section& section = document.sections[i];
    const ReportTable* table = table_in(section);
    if (table == nullptr) continue;
    files[fmt::format("{:02}-{}.csv", i + 1, file_name(section.title))] = print_csv(*table);
  }
  return files;
}

// "HASH  NAME" a line, as checksums are listed.
std::string list_of(const Files& files) {
  std::string list;
  for (const auto& [name, content] : files) {
    list += fmt::format("{}  {}\n", hex(hash_of(content)), name);
  }
  return list;
}

/// Whether it was not there.
bool make_folder(const fs::path& folder) {
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  if (!error) return made;
  throw EnvironmentError(
      fmt::format("{}: the folder cannot be made: {}", folder.string(), error.message()));
}

// A list that somebody has changed may name anything: only files beside it count.
bool is_as_written(const fs::path& folder, const std::string& name, const std::string& hash) {
  if (name.empty() || fs::path(name).filename() != name) return false;
  const fs::path file = folder / name;
  std::error_code none;
  if (!fs::is_regular_file(fs::symlink_status(file, none))) return false;
  return hex(hash_of(read_file(file.string()))) == hash;
}

void remove_file(const fs::path& file) {
  std::error_code error;
  fs::remove(file, error);
  if (!error) return;
  throw EnvironmentError(fmt::format("{}: cannot be removed: {}", file.string(), error.message()));
}

// What a report before this one has left, and this one does not replace.
std::vector<fs::path> older_files(const fs::path& folder, const Files& newer) {
  std::vector<fs::path> older;
  std::error_code none;
  if (!fs::is_regular_file(folder / kList, none)) return older;
  std::istringstream list(read_file((folder / kList).string()));
  for (std::string hash, name; list >> hash >> name;) {
    if (!newer.contains(name) && is_as_written(folder, name, hash)) older.push_back(folder / name);
  }
  return older;
}

}  // namespace

void write_report(const ReportDocument& document, const std::string& folder) {
  const Files tables = tables_of(document);
  std::vector<NamedContent> files(tables.begin(), tables.end());
  files.emplace_back(kList, list_of(tables));
  files.emplace_back("report.md", print_markdown(document));
  files.emplace_back("report.html", print_html(document));
  const bool made = make_folder(folder);
  try {
    const std::vector<fs::path> older = older_files(folder, tables);
    write_into_folder(folder, files);
    for (const fs::path& file : older) remove_file(file);
  } catch (...) {
    std::error_code none;
    if (made) fs::remove(folder, none);  // where it is still empty
    throw;
  }
}

}  // namespace strata
