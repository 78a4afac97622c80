#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/profile/profile.h"
#include "sim/text/embedded.h"
#include "sim/text/file.h"

namespace strata {

std::span<const EmbeddedFile> profile_files();  // generated: profiles/*.toml, then their rows

namespace {

constexpr std::string_view kCosts = ".costs";
constexpr std::string_view kCores = "cpu";  // the kind of cpu:N's devices

// Files of rows are named KIND.costs and KIND.KERNEL-DTYPE.
bool is_profile(std::string_view stem) {
  return stem.find('.') == std::string_view::npos;
}

const EmbeddedFile* find(std::string_view stem) {
  for (const EmbeddedFile& file : profile_files()) {
    if (file.name == stem) return &file;
  }
  return nullptr;
}

Profile parse(const EmbeddedFile& file) {
  Profile profile = parse_profile(file.text, fmt::format("{}.toml", file.name));
  for (KernelTable& table : profile.tables) {
    const EmbeddedFile* rows = find(table.file.substr(0, table.file.rfind('.')));
    if (rows == nullptr) throw InternalError(table.file + ": not in the program");
    table.rows = sorted_rows(parse_kernel_rows(table.kernel, rows->text, table.file));
  }
  if (profile.costs.empty()) return profile;
  const EmbeddedFile* costs = find(std::string(file.name) + std::string(kCosts));
  if (costs == nullptr) throw InternalError(profile.costs + ": not in the program");
  profile.measured = parse_measured_costs(costs->text, profile.costs);
  return profile;
}

}  // namespace

std::vector<std::string> shipped_profiles() {
  std::vector<std::string> kinds;
  for (const EmbeddedFile& file : profile_files()) {
    if (is_profile(file.name)) kinds.emplace_back(file.name);
  }
  std::sort(kinds.begin(), kinds.end());
  return kinds;
}

namespace {

const EmbeddedFile& shipped_profile(const std::string& kind) {
  const EmbeddedFile* file = is_profile(kind) ? find(kind) : nullptr;
  if (file != nullptr) return *file;
  // None ships: one processor's costs say nothing of another's, and the own ones take minutes. Nor
  // of parts of a GPU (h200/4), whose costs follow from how they share it.
  const bool part = kind.find('/') != std::string::npos;
  const char* const how_to = kind == kCores ? ", as strata profile measures it with `devices` cpu:N"
                             : part ? ", as strata profile measures it with `devices` cuda:I/N"
                                    : "";
  throw InputError(fmt::format("no profile of device kind '{}'; allowed: {}, or a .toml file{}",
                               kind, fmt::join(shipped_profiles(), ", "), how_to));
}

}  // namespace

Profile load_profile(const std::string& kind_or_path) {
  if (kind_or_path.ends_with(".toml")) return read_profile(kind_or_path);
  return parse(shipped_profile(kind_or_path));
}

std::string profile_text(const std::string& kind_or_path) {
  if (kind_or_path.ends_with(".toml")) return read_file(kind_or_path);
  return std::string(shipped_profile(kind_or_path).text);
}

}  // namespace strata
