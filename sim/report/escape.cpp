#include "sim/report/escape.h"

#include <algorithm>

#include "sim/report/utf8.h"

namespace strata {
namespace {

std::string_view entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// An underline within a word (batch_per_device) emphasises nothing.
bool joins_words(std::string_view line, std::size_t i) {
  return i > 0 && i + 1 < line.size() && is_word(line[i - 1]) && is_word(line[i + 1]);
}

// Where a line would begin a list, a quotation or a rule, the place of the character that makes it
// so; else npos. Headings and fences begin with characters that are escaped anywhere.
std::size_t block_mark(std::string_view line) {
  if (line.empty()) return std::string_view::npos;
  if (std::string_view(">+-=").find(line[0]) != std::string_view::npos) return 0;
  const auto end =
      static_cast<std::size_t>(std::find_if_not(line.begin(), line.end(), is_digit) - line.begin());
  const bool numbers = end > 0 && end < line.size() && (line[end] == '.' || line[end] == ')');
  const bool item = numbers && (end + 1 == line.size() || line[end + 1] == ' ');
  return item ? end : std::string_view::npos;
}

// A word's '#' (conv#2) is neither a heading nor the end of one.
bool joins_a_word(std::string_view line, std::size_t i) {
  return i > 0 && is_word(line[i - 1]);
}

bool is_mark(std::string_view line, std::size_t i) {
  if (line[i] == '_') return !joins_words(line, i);
  if (line[i] == '#') return !joins_a_word(line, i);
  return std::string_view("\\`*[]<&|~").find(line[i]) != std::string_view::npos;
}

// Blanks at the ends would indent code or break the line.
std::string_view trim(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t") - begin + 1);
}

std::string escape_line(std::string_view line, std::size_t block) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (i == block || is_mark(line, i)) out += '\\';
    out += line[i] == '\t' ? ' ' : line[i];
  }
  return out;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(trim(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return lines;
}

/// The lines that are not empty. `block_of(line)`: which of its characters would begin a block.
template <class BlockOf>
std::string escape_lines(std::string_view text, char between, const BlockOf& block_of) {
  const std::string clean = clean_utf8(text);
  std::string out;
  for (std::string_view line : lines_of(clean)) {
    if (line.empty()) continue;
    if (!out.empty()) out += between;
    out += escape_line(line, block_of(line));
  }
  return out;
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string out;
  for (char c : clean_utf8(text)) {
    const std::string_view name = entity(c);
    if (name.empty()) {
      out += c;
    } else {
      out += name;
    }
  }
  return out;
}

std::string escape_markdown(std::string_view text) {
  return escape_lines(text, '\n', block_mark);
}

std::string escape_markdown_line(std::string_view text) {
  return escape_lines(text, ' ', [](std::string_view) { return std::string_view::npos; });
}

std::vector<std::string> paragraphs(std::string_view text) {
  const std::string clean = clean_utf8(text);
  std::vector<std::string> found;
  bool inside = false;
  for (std::string_view line : lines_of(clean)) {
    if (!line.empty() && !inside) found.emplace_back(line);
    if (!line.empty() && inside) found.back().append("\n").append(line);
    inside = !line.empty();
  }
  return found;
}

}  // namespace strata
