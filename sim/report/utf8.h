#pragma once

// Texts of users, code point by code point. Pure; thread-safe.

#include <cstddef>
#include <string>
#include <string_view>

namespace strata {

constexpr char32_t kReplacementCharacter = 0xFFFD;

/// The code point that begins at text[at]; `at` moves behind it. A byte that begins none is one
/// U+FFFD.
char32_t take_code_point(std::string_view text, std::size_t& at);

/// The text with one U+FFFD for each byte that is not UTF-8 and each character that HTML or XML
/// must not hold; line feeds and tabs stay, a carriage return becomes a blank.
std::string clean_utf8(std::string_view text);

}  // namespace strata
