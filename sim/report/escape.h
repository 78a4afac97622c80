#pragma once

// Plain texts made harmless for where they are put. All clean what is not UTF-8 (utf8.h). Pure;
// thread-safe.

#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// For HTML and SVG, between tags and in quoted attributes.
std::string escape_markup(std::string_view text);

/// For a paragraph or a list item of Markdown (CommonMark, GitHub's tables): shows the text as it
/// is, line by line.
std::string escape_markdown(std::string_view text);

/// For a heading or a cell of a table, which are one line and can begin nothing else.
std::string escape_markdown_line(std::string_view text);

/// What empty lines separate, without them; lines keep their ends.
std::vector<std::string> paragraphs(std::string_view text);

}  // namespace strata
