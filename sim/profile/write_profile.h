#pragma once

// A profile as files: FILE.toml and, where it has measured rows, their tables beside it. Not for
// two writers of one file at once.

#include <string>

#include "sim/profile/profile.h"

namespace strata {

/// Throws InputError where `file` does not end in .toml or is a folder, EnvironmentError where it
/// cannot be written: before hours are spent on what could not be kept.
void check_profile_file(const std::string& file);

/// Where write_profile would write the table of `file` now.
std::string new_costs_table(const std::string& file);

/// As read_profile reads it back. Kernel tables are written first, each to NAME.KERNEL-DTYPE.csv.
/// Of measured costs and the profile, both files or neither: the table gets a name that no file
/// has, NAME.costs.tsv or NAME.costs-2.tsv ..., before the profile, written whole, begins to name
/// it; what a former profile of this file named so is then removed. Returns the table's name, empty
/// where there are no rows. Throws EnvironmentError.
std::string write_profile(const std::string& file, Profile profile);

/// Where the rows of the profile's kernel tables are written, as its file is.
std::vector<std::string> kernel_table_files(const std::string& file, const Profile& profile);

/// The profile whose file's text that is, without `tables`, with them: its other lines stay as they
/// are where the tables stand last and it has no measured costs, which have a file of their own.
/// Throws EnvironmentError.
void write_with_tables(const std::string& file, const std::string& text, Profile profile);

}  // namespace strata
