#pragma once

// What the commands print: results to standard output, warnings and errors to standard error.

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace strata {

/// Throws EnvironmentError where standard output cannot be written.
void write_output(std::string_view text);
/// The same, for all that was written.
void flush_output();

template <class... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  write_output(fmt::format(format, std::forward<Args>(args)...));
}

/// A line on standard error; where that cannot be written, nobody is left to tell.
void say(std::string_view line);

}  // namespace strata
