#include "sim/text/split.h"

namespace strata {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(separator)) != text.npos; text.remove_prefix(end + 1)) {
    parts.push_back(text.substr(0, end));
  }
  parts.push_back(text);
  return parts;
}

std::vector<std::string> split_at_commas(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ',');
  return {parts.begin(), parts.end()};
}

std::vector<std::string_view> split_at_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(kBlanks); at != text.npos;) {
    const std::size_t end = text.find_first_of(kBlanks, at);
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

}  // namespace strata
