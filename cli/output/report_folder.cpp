#include "cli/output/report_folder.h"

#include <cctype>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/store/store.h"
#include "sim/text/file.h"

namespace strata {
namespace {

namespace fs = std::filesystem;

constexpr const char* kList = "report.files";

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

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return;
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

void remove_older(const fs::path& folder, const Files& newer) {
  std::error_code none;
  if (!fs::is_regular_file(folder / kList, none)) return;
  std::istringstream list(read_file((folder / kList).string()));
  for (std::string hash, name; list >> hash >> name;) {
    if (!newer.contains(name) && is_as_written(folder, name, hash)) remove_file(folder / name);
  }
}

}  // namespace

void write_report(const ReportDocument& document, const std::string& folder) {
  const fs::path path = folder;
  const auto write = [&](const std::string& name, const std::string& content) {
    write_file_whole((path / name).string(), content);
  };
  const Files tables = tables_of(document);
  make_folder(path);
  remove_older(path, tables);
  write(kList, list_of(tables));
  for (const auto& [name, content] : tables) write(name, content);
  write("report.md", print_markdown(document));
  write("report.html", print_html(document));
}

}  // namespace strata
