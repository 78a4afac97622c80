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

}  // namespace strata
