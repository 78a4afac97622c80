#include "sim/importers/topology/words.h"

#include <simdjson.h>

#include "sim/text/diagnostics.h"
#include "sim/text/split.h"

namespace strata {

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(kBlanks); at != line.npos;) {
    const std::size_t end = line.find_first_of(kBlanks, at);
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

bool is_utf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size());
}

// No byte of a character but the newline itself is one, so lines can be judged alone.
void check_utf8(std::string_view text, const std::string& file) {
  if (is_utf8(text)) return;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (!is_utf8(line)) fail({file, number}, "bytes that are no character; allowed: UTF-8");
  }
}

}  // namespace strata
