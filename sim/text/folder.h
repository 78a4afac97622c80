#pragma once

// Folders of files that belong together, written whole or not at all.

#include <string>
#include <utility>
#include <vector>

namespace strata {

/// A file's name within its folder, and its content.
using NamedContent = std::pair<std::string, std::string>;

/// Where files are kept that only save time: `$XDG_CACHE_HOME/strata`, else `~/.cache/strata`;
/// empty without a home. As the XDG Base Directory Specification has it, a variable that is not an
/// absolute path says nothing.
std::string cache_folder();

/// Writes all files into a new folder beside it, which then takes the name, so that no one ever
/// sees half of it; the parent must be there. A folder of the name must be empty, and stays: the
/// files go into it, each whole, when all are written. Throws InputError "FOLDER: is there and not
/// empty; allowed: ..." or EnvironmentError "FOLDER: cannot be written: REASON".
void write_folder_whole(const std::string& folder, const std::vector<NamedContent>& files);

/// The same into a folder that has other files, which stay unless they have one of the names: all
/// are written before the first takes its name.
void write_into_folder(const std::string& folder, const std::vector<NamedContent>& files);

/// Whether write_folder_whole could begin: throws what it would throw, and leaves no trace.
void check_can_write_folder(const std::string& folder);

}  // namespace strata
