#pragma once

// A profile as files: FILE.toml and, where it has measured rows, their table beside it. Not for two
// writers of one file at once.

#include <string>

#include "sim/profile/profile.h"

namespace strata {

/// Throws InputError where `file` does not end in .toml or is a folder, EnvironmentError where it
/// cannot be written: before hours are spent on what could not be kept.
void check_profile_file(const std::string& file);

/// Where write_profile would write the table of `file` now.
std::string new_costs_table(const std::string& file);

/// As read_profile reads it back. Both files or neither: the table gets a name that no file has,
/// NAME.costs.tsv or NAME.costs-2.tsv ..., before the profile, written whole, begins to name it;
/// what a former profile of this file named so is then removed. Returns the table's name, empty
/// where there are no rows. Throws EnvironmentError.
std::string write_profile(const std::string& file, Profile profile);

}  // namespace strata
