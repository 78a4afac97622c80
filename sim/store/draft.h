#pragma once

// A new file beside the one that it is to become, so that nobody sees half of it and nothing is
// ever replaced. Thread-safe.

#include <functional>
#include <string>

#include "sim/store/sqlite.h"

namespace strata {

/// "FILE.new-HOST-PID-RANDOM": nobody else takes this name, on whatever host the folder is seen.
std::string draft_name(const std::string& file);

/// Fills a draft and gives it the file's name, unless that is taken; false if it was. A process
/// that is killed meanwhile leaves its draft. Throws EnvironmentError where no file can be made
/// there.
bool make_file(const std::string& file, const std::function<void(Database&)>& fill);

/// 0, or why no file can be made beside this one: an errno.
int folder_error(const std::string& file);

/// Throws EnvironmentError "FILE: WHAT: the system's reason".
[[noreturn]] void fail_environment(const std::string& file, std::string_view what, int error);

}  // namespace strata
