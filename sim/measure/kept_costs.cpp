#include "sim/measure/kept_costs.h"

#include <algorithm>
#include <filesystem>
#include <random>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/measure/calibrate.h"
#include "sim/profile/write_profile.h"
#include "sim/text/folder.h"

namespace strata {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".toml";

// FNV-1a, of 64 bits: the same on every machine and in every version.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) {
    value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return value;
}

// "cpu-2-3f29c1a07be4d655"
std::string folder_name(const CostsOf& of) {
  std::string name = of.devices;
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  for (char& c : name) c = is_plain(c) ? c : '-';
  return fmt::format("{}-{:016x}", name.substr(0, 40), hash(of.devices + "\n" + of.machine));
}

std::string new_part(const std::string& folder) {
  std::random_device random;
  const std::uint64_t number = std::uint64_t{random()} << 32U | random();
  return fmt::format("{}/{:016x}{}", folder, number, kSuffix);
}

// Of a part: its profile, and the table that it names. What is left over harms nobody.
void remove_part(const std::string& file, const Profile& profile) {
  std::error_code ignored;
  fs::remove(file, ignored);
  if (!profile.costs.empty()) fs::remove(fs::path(file).parent_path() / profile.costs, ignored);
}

}  // namespace

std::string cost_folder() {
  const std::string folder = cache_folder();
  return folder.empty() ? "" : folder + "/costs";
}

KeptCosts::KeptCosts(const std::string& folder, CostsOf of) : of_(std::move(of)) {
  if (folder.empty()) return;
  folder_ = (fs::path(folder) / folder_name(of_)).string();
  for (Part& part : read_parts()) {
    profile_ = profile_ ? merged(*profile_, part.profile) : std::move(part.profile);
  }
}

// Sorted by date, so that newer rows take the place of older ones.
std::vector<KeptCosts::Part> KeptCosts::read_parts() {
  std::vector<Part> parts;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    const std::string file = at->path().string();
    if (!file.ends_with(kSuffix)) continue;
    if (auto profile = read_part(file)) parts.push_back({file, std::move(*profile)});
  }
  const bool none = error == std::errc::no_such_file_or_directory ||
                    error == std::errc::not_a_directory;  // which add() will tell
  if (error && !none) warn_once(fmt::format("{}: cannot be read: {}", folder_, error.message()));
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::tie(a.profile.provenance.date, a.file) <
           std::tie(b.profile.provenance.date, b.file);
  });
  return parts;
}

// Another process may have added it to a part of its own and removed it since it was listed.
std::optional<Profile> KeptCosts::read_part(const std::string& file) try {
  Profile profile = read_profile(file);
  if (profile.kind == of_.kind && profile.description == of_.machine &&
      profile.devices == of_.at_once) {
    return profile;
  }
  warn_once(fmt::format("{}: costs of other devices; they are left out", file));
  return std::nullopt;
} catch (const InputError& error) {
  std::error_code ignored;
  if (fs::exists(file, ignored)) {
    warn_once(fmt::format("{}; what it may hold is measured anew", error.message()));
  }
  return std::nullopt;
}

void KeptCosts::add(const Profile& newer) {
  profile_ = profile_ ? merged(*profile_, newer) : newer;
  if (folder_.empty()) return;
  try {
    write(read_parts());
  } catch (const Error& error) {
    warn_once(fmt::format("measured costs are not kept: {}", error.message()));
  }
}

void KeptCosts::write(const std::vector<Part>& read) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw EnvironmentError(fmt::format("{}: {}", folder_, error.message()));
  Profile all = *profile_;
  for (const Part& part : read) all = merged(part.profile, all);
  write_profile(new_part(folder_), all);
  profile_ = std::move(all);
  for (const Part& part : read) remove_part(part.file, part.profile);
}

void KeptCosts::warn_once(const std::string& warning) {
  const auto known = std::find(warnings_.begin(), warnings_.end(), warning);
  if (known == warnings_.end()) warnings_.push_back(warning);
}

}  // namespace strata
