#include "sim/profile/write_profile.h"

#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/profile/kernel_entries.h"
#include "sim/text/file.h"

namespace strata {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".toml";

std::string table_prefix(const fs::path& file) {
  return file.stem().string() + ".costs";
}

std::string unused_table_name(const fs::path& file) {
  const std::string prefix = table_prefix(file);
  std::string name = prefix + ".tsv";
  for (int i = 2; fs::exists(file.parent_path() / name); ++i) {
    name = fmt::format("{}-{}.tsv", prefix, i);
  }
  return name;
}

// The table that the profile names now, if write_profile may have written it.
std::string former_table(const fs::path& file) try {
  if (!fs::exists(file)) return "";
  const std::string costs = parse_profile(read_file(file.string()), file.string()).costs;
  const bool ours = costs.starts_with(table_prefix(file)) && costs.ends_with(".tsv") &&
                    fs::path(costs).filename() == costs;
  return ours ? costs : "";
} catch (const InputError&) {
  return "";  // not a profile: nothing that it names is ours
}

// The rows of each kernel have the same file whenever they are written.
void name_tables(const fs::path& file, std::vector<KernelTable>& tables) {
  for (KernelTable& table : tables) {
    table.file =
        fmt::format("{}.{}-{}.csv", file.stem().string(), name(table.kernel), name(table.dtype));
  }
}

void write_tables(const fs::path& file, const std::vector<KernelTable>& tables) {
  for (const KernelTable& table : tables) {
    write_file_whole((file.parent_path() / table.file).string(),
                     print_kernel_rows(table.kernel, table.rows));
  }
}

// The text with the tables' entries, if that says what the profile does.
std::optional<std::string> edited_text(const std::string& file, const std::string& text,
                                       const Profile& profile) try {
  std::string edited = with_kernel_entries(text, profile.tables);
  Profile read = parse_profile(edited, file);
  if (read.tables.size() != profile.tables.size()) return std::nullopt;
  for (std::size_t i = 0; i < read.tables.size(); ++i) read.tables[i].rows = profile.tables[i].rows;
  if (read != profile) return std::nullopt;
  return edited;
} catch (const InputError&) {
  return std::nullopt;
}

void remove_quietly(const fs::path& file) {
  std::error_code ignored;  // what is left over harms nobody
  fs::remove(file, ignored);
}

}  // namespace

void check_profile_file(const std::string& file) {
  if (!file.ends_with(kSuffix) || file.size() == kSuffix.size() || fs::is_directory(file)) {
    throw InputError(
        fmt::format("{}: no name for a profile; allowed: a file ending in .toml", file));
  }
  check_can_write(file);
}

std::string new_costs_table(const std::string& file) {
  return (fs::path(file).parent_path() / unused_table_name(file)).string();
}

std::string write_profile(const std::string& name, Profile profile) {
  const fs::path file(name);
  const std::string former = former_table(file);
  profile.costs = profile.measured.empty() ? "" : unused_table_name(file);
  const fs::path table = file.parent_path() / profile.costs;
  if (!profile.costs.empty()) {
    write_file_whole(table.string(), print_measured_costs(profile.measured));
  }
  name_tables(file, profile.tables);
  write_tables(file, profile.tables);
  try {
    write_file_whole(name, print_profile(profile));
  } catch (...) {
    if (!profile.costs.empty()) remove_quietly(table);
    throw;
  }
  if (!former.empty()) remove_quietly(file.parent_path() / former);
  return profile.costs;
}

std::vector<std::string> kernel_table_files(const std::string& file, const Profile& profile) {
  std::vector<KernelTable> tables = profile.tables;
  name_tables(fs::path(file), tables);
  std::vector<std::string> files;
  files.reserve(tables.size());
  for (const KernelTable& table : tables) {
    files.push_back((fs::path(file).parent_path() / table.file).string());
  }
  return files;
}

void write_with_tables(const std::string& file, const std::string& text, Profile profile) {
  name_tables(fs::path(file), profile.tables);
  const std::optional<std::string> edited =
      profile.costs.empty() ? edited_text(file, text, profile) : std::nullopt;
  if (!edited) {
    write_profile(file, std::move(profile));
    return;
  }
  write_tables(fs::path(file), profile.tables);
  write_file_whole(file, *edited);
}

}  // namespace strata
