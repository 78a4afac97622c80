#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/profile/profile.h"
#include "sim/text/embedded.h"

namespace strata {

std::span<const EmbeddedFile> profile_files();  // generated: profiles/*.toml, then *.costs.tsv

namespace {

constexpr std::string_view kCosts = ".costs";
constexpr std::string_view kCores = "cpu";  // the kind of cpu:N's devices

const EmbeddedFile* find(std::string_view stem) {
  for (const EmbeddedFile& file : profile_files()) {
    if (file.name == stem) return &file;
  }
  return nullptr;
}

Profile parse(const EmbeddedFile& file) {
  Profile profile = parse_profile(file.text, fmt::format("{}.toml", file.name));
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
    if (!file.name.ends_with(kCosts)) kinds.emplace_back(file.name);
  }
  std::sort(kinds.begin(), kinds.end());
  return kinds;
}

Profile load_profile(const std::string& kind_or_path) {
  if (kind_or_path.ends_with(".toml")) return read_profile(kind_or_path);
  const EmbeddedFile* file = kind_or_path.ends_with(kCosts) ? nullptr : find(kind_or_path);
  if (file != nullptr) return parse(*file);
  // None ships: one processor's costs say nothing of another's, and the own ones take minutes. Nor
  // of parts of a GPU (h200/4), whose costs follow from how they share it.
  const bool part = kind_or_path.find('/') != std::string::npos;
  const char* const how_to = kind_or_path == kCores
                                 ? ", as strata profile measures it with `devices` cpu:N"
                             : part ? ", as strata profile measures it with `devices` cuda:I/N"
                                    : "";
  throw InputError(fmt::format("no profile of device kind '{}'; allowed: {}, or a .toml file{}",
                               kind_or_path, fmt::join(shipped_profiles(), ", "), how_to));
}

}  // namespace strata
