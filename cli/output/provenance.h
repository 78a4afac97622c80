#pragma once

// Where a result comes from: the command line, which a shell repeats, the host, and the day.

#include <string>
#include <vector>

namespace strata {

/// "strata sweep 'my case.toml' -j 2": the arguments as they were given, quoted where a shell needs
/// it; the program by its name, wherever it stood.
std::string command_line(int argc, const char* const* argv);

/// The same command with `option VALUE` at its end, and without what it said of that option and of
/// those in `dropped`. `command`: a command_line(); options have a value each.
std::string with_option(const std::string& command, const std::string& option,
                        const std::string& value, const std::vector<std::string>& dropped = {});

/// "unknown" where the system does not tell.
std::string host_name();

/// "2026-11-21", in UTC.
std::string today();

}  // namespace strata
