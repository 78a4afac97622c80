#pragma once

// TOML 1.0, read into a Document.

#include <string>
#include <string_view>

#include "sim/text/value.h"

namespace strata {

/// Throws InputError "FILE:LINE: ..." for bad syntax, invalid UTF-8, nan and inf, keys of more
/// than 16 parts, values nested more than 256 deep, and more than 64 MiB of text.
Document parse_toml(std::string_view text, const std::string& file);
Document read_toml(const std::string& file);

/// A string as TOML writes it, in double quotes, with escapes.
std::string toml_quoted(std::string_view string);

}  // namespace strata
