#include "sim/report/text_size.h"

#include "sim/report/utf8.h"

namespace strata {
namespace {

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

// In ems.
double width_of(char32_t c) {
  if (c >= 0x1100) return 1;  // among others, the scripts that are set in squares
  if (c >= 0x80) return 0.65;
  const char ascii = static_cast<char>(c);
  if (std::string_view("ijl.,:;'|!I").find(ascii) != std::string_view::npos) return 0.3;
  if (std::string_view("frt()[]{}/ -\"").find(ascii) != std::string_view::npos) return 0.42;
  if (std::string_view("mwMW%@").find(ascii) != std::string_view::npos) return 0.95;
  return ascii >= 'A' && ascii <= 'Z' ? 0.72 : 0.6;
}

}  // namespace

double text_width(std::string_view text, double font_size) {
  double ems = 0;
  for (std::size_t at = 0; at < text.size();) ems += width_of(take_code_point(text, at));
  return ems * font_size;
}

std::string cut_text(std::string_view text, double width, double font_size) {
  if (text_width(text, font_size) <= width) return std::string(text);
  double used = width_of(U'\u2026') * font_size;
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size(); end = at) {
    used += width_of(take_code_point(text, at)) * font_size;
    if (used > width) break;
  }
  return std::string(text.substr(0, end)) + std::string(kEllipsis);
}

std::string cut_middle(std::string_view text, double width, double font_size) {
  if (text_width(text, font_size) <= width) return std::string(text);
  const std::string begin = cut_text(text, width / 2, font_size);
  const double room = width - text_width(begin, font_size);
  std::size_t at = 0;  // of the longest end that fits
  while (at < text.size() && text_width(text.substr(at), font_size) > room) {
    take_code_point(text, at);
  }
  return begin + std::string(text.substr(at));
}

}  // namespace strata
