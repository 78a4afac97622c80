#pragma once

// Text files of others, word by word. Pure; thread-safe.

#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// What stands between blanks, tabs and carriage returns. Views into the line.
std::vector<std::string_view> words_of(std::string_view line);

bool is_utf8(std::string_view text);
/// Throws InputError "FILE:LINE: ..." where it is not.
void check_utf8(std::string_view text, const std::string& file);

}  // namespace strata
