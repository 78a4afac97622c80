#pragma once

// What the commands print: results to standard output, warnings, notes and errors to standard
// error.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace strata {

/// Without control characters, of which names in files can have any, and which a terminal obeys:
/// "\u001b" for each but the end of a line and a tab, which JSON and TOML read back.
std::string printable(std::string_view text);

/// Writes it printable(). Throws EnvironmentError where standard output cannot be written.
void write_output(std::string_view text);
/// The same, for all that was written.
void flush_output();

template <class... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  write_output(fmt::format(format, std::forward<Args>(args)...));
}

/// "1 strategy", "2 strategies".
std::string counted(std::size_t count, std::string_view one, std::string_view several);

/// "memory_limit" as "--memory-limit".
std::string option_name(std::string_view key);

/// A text of the library in which settings (sim/scenario/settings.h) are options: `memory_limit`
/// becomes --memory-limit.
std::string with_options(std::string_view text);

/// A line on standard error, with_options() and printable(); where that cannot be written, nobody
/// is left to tell.
void say(std::string_view line);
/// The same, as a warning or a note: what is said goes on from "strata: warning: ".
void warn(std::string_view what);
void note(std::string_view what);

/// Throws InputError where one of the files to be written is one of those that are read, under
/// whatever name.
void refuse_overwriting(const std::vector<std::string>& outputs,
                        const std::vector<std::string>& inputs);

/// For files that are written when the work is done, before it begins: the same, also where two of
/// them are one file, and throws EnvironmentError where one of them could not be written. Empty
/// names are those of options that were not given.
void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs);
/// Throws InputError where the name does not end in .json, as that of a strategy file must.
void check_strategy_file(const std::string& output);

}  // namespace strata
