#pragma once

// JSON (RFC 8259), read into a Document, and its strings, written.

#include <string>
#include <string_view>

#include "sim/text/value.h"

namespace strata {

/// Throws InputError "FILE:LINE: ..." for bad syntax, invalid UTF-8, a key that comes twice in one
/// object, and values nested more than 64 deep. A number is an integer if it is written as one, or
/// has no fraction and is below 2^53. Null means absent: an object does not have the members whose
/// value is null.
Document parse_json(std::string_view text, const std::string& file);
Document read_json(const std::string& file);

/// A string of JSON, in its quotes. The text must be UTF-8.
std::string json_string(std::string_view text);

}  // namespace strata
