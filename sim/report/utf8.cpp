#include "sim/report/utf8.h"

namespace strata {
namespace {

constexpr std::string_view kReplacementBytes = "\xEF\xBF\xBD";

// How many bytes follow a lead byte; 0 where it leads nothing (RFC 3629, section 4).
int continuations(unsigned char lead) {
  if (lead < 0xC2 || lead > 0xF4) return 0;
  return lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
}

// Neither longer than needed nor a surrogate nor beyond Unicode.
bool is_scalar(char32_t value, int continued) {
  constexpr char32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  return value >= kLeast[continued] && value <= 0x10FFFF && !surrogate;
}

// Characters that XML 1.0 (2.2) and the HTML standard both allow in text.
bool may_stand(char32_t c) {
  if (c < 0x20) return c == '\n' || c == '\t';
  return (c < 0x7F || c > 0x9F) && (c & 0xFFFEU) != 0xFFFE && (c < 0xFDD0 || c > 0xFDEF);
}

}  // namespace

char32_t take_code_point(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  if (lead < 0x80) return lead;
  const int more = continuations(lead);
  if (more == 0) return kReplacementCharacter;
  char32_t value = lead & (0x3FU >> static_cast<unsigned>(more));
  std::size_t end = at;
  for (int i = 0; i < more; ++i, ++end) {
    if (end == text.size()) return kReplacementCharacter;
    const auto byte = static_cast<unsigned char>(text[end]);
    if ((byte & 0xC0U) != 0x80) return kReplacementCharacter;
    value = value << 6U | (byte & 0x3FU);
  }
  if (!is_scalar(value, more)) return kReplacementCharacter;
  at = end;
  return value;
}

std::string clean_utf8(std::string_view text) {
  std::string clean;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t c = take_code_point(text, at);
    if (c == '\r') {
      clean += ' ';
    } else if (c == kReplacementCharacter || !may_stand(c)) {
      clean += kReplacementBytes;
    } else {
      clean += text.substr(begin, at - begin);
    }
  }
  return clean;
}

}  // namespace strata
