#pragma once

// Text in parts. Pure; thread-safe.

#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// The parts between separators, empty ones among them: "a,,b" has three, "" has one. Views into
/// the text.
std::vector<std::string_view> split(std::string_view text, char separator);

/// As lists on a command line and in scenarios are written: "data,model,owt".
std::vector<std::string> split_at_commas(std::string_view text);

/// The words between blanks, tabs and carriage returns, none of them empty. Views into the text.
std::vector<std::string_view> split_at_blanks(std::string_view text);

}  // namespace strata
